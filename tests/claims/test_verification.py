"""What follows from the outcomes of a sample."""

import json

from mfbench.errors import ExitCode
from mfbench_claims.agreement import AgreementKind
from mfbench_claims.verification import Verification, VerifiedTrial

VALUES = {
    "bundle": "claim.zip", "sha256": "0" * 64, "suite": "own", "profile": "full", "part": "", "only": [],
    "protocol": "repeated-cv", "measures_times": False, "share": "", "suite_differences": [], "limits": [],
    "figures": [], "code": [], "seed": 1,
    "planned": 12, "results": 12, "unplanned": 0, "dropped": [], "missing": [], "reused": [], "left_out": {},
    "differences": {}, "verdicts": 3, "changed": [],
}  # fmt: skip


def verification(*outcomes, **changes):
    trials = [VerifiedTrial("iris", "A", 0, fold, outcome) for fold, outcome in enumerate(outcomes)]
    return Verification(**{**VALUES, "trials": trials, **changes})


def test_exit_codes(subtests):
    for outcomes, code in [
        ([AgreementKind.EQUAL, AgreementKind.ROUNDING, AgreementKind.NOT_RUN], ExitCode.OK),
        ([AgreementKind.EQUAL, AgreementKind.DIFFERENT], ExitCode.FAILED),
        ([AgreementKind.NOT_RUN, AgreementKind.NOT_COMPARABLE], ExitCode.NOTHING_MEASURED),
        ([], ExitCode.NOTHING_MEASURED),
    ]:
        with subtests.test(outcomes=outcomes, code=code):
            assert verification(*outcomes).exit_code == code


def test_what_is_missing_or_would_change_is_never_verified(subtests):
    for name in ("changed", "dropped", "missing", "figures"):
        for outcomes in ([AgreementKind.EQUAL], [AgreementKind.NOT_COMPARABLE]):
            with subtests.test(name=name, outcomes=outcomes):
                assert verification(*outcomes, **{name: ["A against B: win becomes tie"]}).exit_code == ExitCode.FAILED
    # What is named and does not fail: an own suite may have low limits, and differ from that of the same name.
    for name in ("limits", "suite_differences"):
        assert verification(AgreementKind.EQUAL, **{name: ["1 s instead of 600 s"]}).exit_code == ExitCode.OK


def test_the_bound_counts_the_results_that_can_be_compared():
    every = verification(*[AgreementKind.EQUAL] * 9, *[AgreementKind.NOT_RUN] * 3)
    assert every.largest_share == 0.0
    assert (
        verification(*[AgreementKind.EQUAL] * 8, AgreementKind.DIFFERENT, *[AgreementKind.NOT_RUN] * 3).largest_share
        == 1 / 9
    )
    assert verification(*[AgreementKind.EQUAL] * 9, AgreementKind.NOT_RUN).largest_share > 0
    assert verification(*[AgreementKind.NOT_RUN] * 12).largest_share == 1.0


def test_plain_values():
    one = verification(AgreementKind.EQUAL, AgreementKind.DIFFERENT)
    content = json.loads(json.dumps(one.to_dict()))
    assert content["counts"]["different"] == 1 and content["compared"] == 2
    assert content["trials"][1] == {
        "dataset": "iris", "method": "A", "repeat": 0, "fold": 1, "outcome": "different", "detail": "",
    }  # fmt: skip
    assert content["largest_share"] == one.largest_share > 1 / 12
    assert one.trials[0].name == "A on iris, repeat 0, fold 0"
