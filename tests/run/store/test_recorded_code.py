"""What a run records of its code, and how that of another installation differs."""

from mfbench.run.environment import describe
from mfbench.run.store.metadata import UNRECORDED, RecordedCode, code_of, differences_of, joined_code, metadata_of


def test_a_run_records_the_code_that_its_keys_depend_on(prepared):
    plan, folder, registry = prepared
    code = metadata_of(plan, folder, describe(registry, 1, 0)).code
    assert code == code_of(plan)
    for (_, method), ingredients in plan.ingredients.items():
        assert code.methods[method] == ingredients["code"]
        assert (code.host, code.libraries) == (ingredients["host"], ingredients["libraries"])
    assert differences_of(code, code, "iris", "A") == []
    plan.ingredients.clear()
    assert code_of(plan) == RecordedCode()


CODE = RecordedCode(
    mfbench="0.2.0",
    host="aa",
    libraries={"numpy": "2.0"},
    methods={"A": {"plugin mine": "01", "distribution my-package": "1.0", "project": "02"}},
    datasets={"toy": {"plugin toys": "03"}},
)


def test_differences(subtests):
    for changes, expected in [
        ({"libraries": {"numpy": "2.1"}}, ["numpy 2.1 instead of 2.0"]),
        ({"mfbench": "0.3.0", "host": "bb"}, ["mfbench 0.3.0 instead of 0.2.0"]),
        ({"host": "bb"}, ["mfbench 0.2.0 with other code"]),
        ({"methods": {"A": CODE.methods["A"] | {"plugin mine": "ff"}}}, ["mine with other code"]),
        ({"methods": {"A": CODE.methods["A"] | {"project": "ff"}}}, ["the project of the method with other code"]),
        ({"methods": {"A": CODE.methods["A"] | {"distribution my-package": "2"}}}, ["my-package 2 instead of 1.0"]),
        ({"methods": {"A": CODE.methods["A"] | {"import other": "1"}}}, ["other is installed in addition"]),
        ({"datasets": {}}, ["toys is not installed"]),
    ]:
        with subtests.test(changes=changes, expected=expected):
            assert differences_of(CODE, CODE.model_copy(update=changes), "toy", "A") == expected


def test_a_run_without_recorded_code():
    assert differences_of(RecordedCode(), CODE, "toy", "A") == [UNRECORDED]


def test_joined_runs():
    other = CODE.model_copy(update={"methods": {"B": {"plugin yours": "07"}}})
    assert set(joined_code([CODE, other]).methods) == {"A", "B"}
    for changes in ({"mfbench": "9"}, {"host": "b"}, {"libraries": {}}, {"methods": {"A": {"plugin mine": "09"}}}):
        assert joined_code([CODE, CODE.model_copy(update=changes)]) == RecordedCode()
