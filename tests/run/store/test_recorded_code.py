"""What a run records of its code, and how that of another installation differs."""

from small_runs import InProcess

from mfbench.host.code_hashes import KIND_OF_KEYS
from mfbench.report.progress import Silent
from mfbench.run.environment import describe
from mfbench.run.runner import RunOptions, execute
from mfbench.run.store.metadata import metadata_of
from mfbench.run.store.recorded_code import OTHER_KIND, UNRECORDED, RecordedCode, code_of, differences_of, joined_code
from mfbench.run.store.store import Store
from mfbench.run.workers import choice
from mfbench.stats.results import Run


def test_a_run_records_the_code_that_its_keys_depend_on(prepared):
    plan, folder, registry = prepared
    code = metadata_of(plan, folder, describe(registry, 1, 0)).code
    assert code == code_of(plan)
    for (_, method), ingredients in plan.ingredients.items():
        assert code.methods[method] == ingredients["code"]
        assert (code.host, code.libraries) == (ingredients["host"], ingredients["libraries"])
    assert differences_of(code, code, "iris", "A") == []
    plan.ingredients.clear()
    assert code_of(plan) == RecordedCode(keys=KIND_OF_KEYS)


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
        ({"methods": {"A": CODE.methods["A"] | {"import other": "1"}}}, ["other only here"]),
        ({"datasets": {}}, ["toys only there"]),
    ]:
        with subtests.test(changes=changes, expected=expected):
            assert differences_of(CODE, CODE.model_copy(update=changes), "toy", "A") == expected


def test_a_run_of_an_earlier_version():
    assert differences_of(RecordedCode(), CODE, "toy", "A") == [UNRECORDED]


def test_hashes_of_another_kind_are_not_compared():
    here = CODE.model_copy(update={"keys": 2, "host": "bb", "methods": {}, "libraries": {"numpy": "2.1"}})
    assert differences_of(CODE, here, "toy", "A") == [OTHER_KIND, "numpy 2.1 instead of 2.0"]


def test_a_store_with_keys_of_another_kind_can_be_read_and_says_that_its_trials_run_again(prepared, monkeypatch):
    plan, folder, registry = prepared
    remarks = []
    monkeypatch.setattr(choice, "LocalPool", InProcess)
    monkeypatch.setattr(Silent, "remarked", lambda self, remark: remarks.append(remark))
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    assert not remarks and not Run(folder).remarks
    with Store(folder) as store:
        store.record("code", CODE.model_dump(mode="json", exclude={"keys"}))
    run = Run(folder)
    assert run.remarks == [
        "The results are stored under keys of another version of mfbench; a start of the run repeats their trials."
    ]
    assert len(run.trials)
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    assert remarks == run.remarks
    assert not Run(folder).remarks


def test_joined_runs():
    other = CODE.model_copy(update={"methods": {"B": {"plugin yours": "07"}}})
    assert set(joined_code([CODE, other]).methods) == {"A", "B"}
    for changes in ({"mfbench": "9"}, {"host": "b"}, {"libraries": {}}, {"methods": {"A": {"plugin mine": "09"}}}):
        assert joined_code([CODE, CODE.model_copy(update=changes)]) == RecordedCode()
