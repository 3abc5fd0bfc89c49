"""What the terminal shows of a verification."""

from mfbench_claims.agreement import AgreementKind
from mfbench_claims.verification import Verification, VerifiedTrial, verification_lines

VALUES = {
    "bundle": "claim.zip", "sha256": "ab" * 32, "suite": "own", "profile": "full", "part": "", "only": [],
    "protocol": "repeated-cv", "measures_times": False, "share": "", "suite_differences": [], "limits": [],
    "figures": [], "code": [], "seed": 7,
    "planned": 400, "results": 390, "unplanned": 0, "dropped": [], "missing": [], "reused": [], "left_out": {},
    "differences": {}, "verdicts": 3, "changed": [],
}  # fmt: skip


def text(*trials, **changes):
    listed = [VerifiedTrial("iris", "A", 0, fold, *trial) for fold, trial in enumerate(trials)]
    return "\n".join(verification_lines(Verification(**{**VALUES, "trials": listed, **changes})))


def test_what_a_run_of_times_claims_is_not_compared():
    sentence = "Times and memory, which this suite measures, are not compared."
    assert sentence in text((AgreementKind.EQUAL,), protocol="timing", measures_times=True).splitlines()
    assert sentence not in text((AgreementKind.EQUAL,))


def test_verdicts_that_change_are_named_even_if_nothing_was_compared():
    answer = text((AgreementKind.NOT_COMPARABLE,), changed=["iris: A becomes win"])
    assert "1 of 3 verdicts would change:\n  iris: A becomes win" in answer


def test_large_shares_and_results_from_elsewhere():
    assert "at most 100 % of the results differ" in text((AgreementKind.DIFFERENT, "x"))
    sentence = "12 of 15 results are from unverified bundles, and so are their times: 12 from bundle 1."
    assert sentence in text((AgreementKind.EQUAL,), reused=[sentence]).splitlines()


def test_whose_code_was_run_again():
    code = ["mfbench 0.1.0 (sklearn)", "my_module:MyClass by its import path"]
    line = "Code that was run again: mfbench 0.1.0 (sklearn); my_module:MyClass by its import path."
    assert line in text((AgreementKind.EQUAL,), code=code).splitlines()
    assert "Code that" not in text((AgreementKind.NOT_RUN,))


def test_everything_is_equal():
    answer = text(*[(AgreementKind.EQUAL,)] * 50)
    assert answer.startswith(f"claim.zip (sha256 {'ab' * 32})\n")
    assert "Suite own, profile full: 390 of 400 planned trials have a result." in answer
    assert "Sample: 50 trials with --seed 7." in answer and "     50 equal to the bit" in answer
    assert "With the repeated results, all 3 verdicts stay the same." in answer
    assert answer.endswith(
        "With 50 results compared and 0 different, at most 5.4 % of the results differ, with 95 % confidence. "
        "If 5 % were forged, such a sample would have one of them with a probability of 94 %."
    )
    assert "not comparable" not in answer and "Different" not in answer
    assert "Every result of the bundle was compared." in text(*[(AgreementKind.EQUAL,)] * 50, results=50)


def test_what_is_not_equal_is_named():
    answer = text(
        (AgreementKind.EQUAL,),
        (AgreementKind.DIFFERENT, "accuracy is 0.9 in the bundle and 0.8 here"),
        (AgreementKind.ROUNDING, "weights"),
        (AgreementKind.NOT_COMPARABLE, "it succeeded in the bundle and reached the time limit here"),
        (AgreementKind.NOT_RUN, "it is not installed\x1b[2J"),
        missing=["B on wine, repeat 0, fold 3"],
        unplanned=8,
        dropped=["the dataset pima", "B on wine, repeat 0, fold 2"],
        limits=["1 s instead of 600 s"],
        figures=["A on iris in table 2 is 0.5 instead of 0.6"],
        share="Shard 2 of 3: 15 of 45 trials.",
        left_out={"sonar": "gone"},
        differences={"numpy 2.1 instead of 2.0": 3},
        changed=["A against B on iris: win becomes tie"],
    )
    for line in (
        "Without a result: B on wine, repeat 0, fold 3",
        "Dropped without a stated reason, 8 trials of its suite are not in its plan:\n  the dataset pima\n  B on wine,",
        "Left out by its run:\n  sonar: gone",
        "Its limits are lower than usual: 1 s instead of 600 s",
        "Published figures that are not those of the installed tables:\n  A on iris in table 2 is 0.5 instead of 0.6",
        "Shard 2 of 3: 15 of 45 trials.\n",
        "Different:\n  A on iris, repeat 0, fold 1: accuracy is 0.9 in the bundle and 0.8 here",
        "Equal within rounding:\n  A on iris, repeat 0, fold 2: weights",
        "Not comparable:\n  A on iris, repeat 0, fold 3: it succeeded in the bundle and reached the time limit here",
        "Could not be run here:\n  1 trial: it is not installed",
        "Differences here: numpy 2.1 instead of 2.0 (3 trials).",
        "1 of 3 verdicts would change:\n  A against B on iris: win becomes tie",
        "of the results that can be compared here differ, with 95 % confidence.",
    ):
        assert line in answer, line
    assert "\x1b" not in answer


def test_rounding_without_a_reason_and_nothing_compared():
    assert "processors of one name can round differently" in text((AgreementKind.ROUNDING, "weights"))
    nothing = text((AgreementKind.NOT_RUN, "gone"))
    assert "verdict" not in nothing and "confidence" not in nothing


def test_long_lists_are_cut():
    answer = text(*[(AgreementKind.DIFFERENT, "other")] * 30, missing=[f"m{i}" for i in range(30)], changed=["c"] * 30)
    assert answer.count("(--json lists all)") == 2 and "; 25 more" in answer


def test_a_reason_is_given_once():
    assert "Could not be run here:\n  30 trials: gone" in text(*[(AgreementKind.NOT_RUN, "gone")] * 30)


def test_one_of_each():
    answer = text((AgreementKind.EQUAL,), verdicts=1)
    assert "the only verdict stays the same." in answer and "With 1 result compared" in answer


def test_every_result_that_can_be_compared():
    answer = text(*[(AgreementKind.EQUAL,)] * 9, (AgreementKind.NOT_RUN, "gone"), results=10)
    assert answer.endswith("Every result of the bundle that can be compared here was compared.")


def test_a_part_and_another_suite_are_named():
    whole = text((AgreementKind.EQUAL,))
    assert "Restricted" not in whole and "installed one" not in whole
    answer = text(
        (AgreementKind.EQUAL,), part="small", only=["iris", "A"], suite_differences=["the seed is 7 instead of 8"]
    )
    assert "Suite own, profile full, part small: 390 of 400 planned trials have a result." in answer
    assert "Restricted by --only: iris; A\nIts suite is not the installed one: the seed is 7 instead of 8\n" in answer
