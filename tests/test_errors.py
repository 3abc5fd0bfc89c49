"""Errors: exit codes, and sentences that name what exists."""

from mfbench.errors import (
    DataError,
    ExitCode,
    MfbenchError,
    PluginError,
    RunError,
    SuiteError,
    UnknownNameError,
    UsageError,
    suggestion,
)


def test_a_wrong_request_exits_with_2_and_work_that_failed_with_1(subtests):
    for error, code in [
        (MfbenchError, 1),
        (PluginError, 1),
        (DataError, 1),
        (RunError, 1),
        (UsageError, 2),
        (SuiteError, 2),
        (UnknownNameError, 2),
    ]:
        with subtests.test(error=error, code=code):
            assert issubclass(error, MfbenchError)
            assert error.exit_code == code


def test_exit_codes_are_those_of_the_documentation():
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "NOTHING_MEASURED": 3,
        "REGRESSION": 4,
        "UNDECIDED": 5,
        "INTERRUPTED": 130,
    }


def test_an_unknown_name_tells_kind_name_near_names_and_where_to_look():
    error = UnknownNameError("selector", "relief-f", ["relieff", "variance"], "see 'mfbench plugins'")
    assert str(error) == "unknown selector 'relief-f': did you mean 'relieff'? (see 'mfbench plugins')"
    assert (error.kind, error.name) == ("selector", "relief-f")


def test_at_most_three_near_names_are_suggested():
    near = suggestion("knn", ["knn1", "knn2", "knn3", "knn4", "zebra"])
    assert near.count("'knn") == 3
    assert "zebra" not in near


def test_far_names_are_listed_once_each_in_order_and_cut_with_their_number():
    assert suggestion("zzz", ["b", "a", "b"]) == ": choose from a, b"
    many = suggestion("zzz", [f"m{i:02}" for i in range(20)], limit=3)
    assert many == ": choose from m00, m01, m02, … (20 in all)"


def test_a_generator_of_names_is_read_once():
    assert suggestion("zzz", (name for name in ["a"])) == ": choose from a"
