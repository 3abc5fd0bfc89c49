"""Plans of bundled suites: the keys of their runs, and a reason for each part that cannot be used here."""

import json
import sys

import pytest

from mfbench.api import Request, prepare_suite
from mfbench.data.cache import DataOptions
from mfbench.data.lookup import Lookup
from mfbench.errors import UsageError
from mfbench.host.registry import load_registry
from mfbench.run.environment import describe
from mfbench.run.store.metadata import RunMetadata, metadata_of
from mfbench_claims.rebuilt_plan import Surroundings, rebuilt_plan
from mfbench_claims.writing import public_metadata

OFFLINE = Lookup(DataOptions.of(None, offline=True))
HEAD = """
[suite]
name = "own"
[[datasets]]
use = ["iris", "led-7(n_samples=60)"]
"""
METHODS = {
    "two parameters": 'label = "A"\nselector = "relieff"\nclassifier = "knn"\n'
    'tune = { "selector.n_neighbors" = [5, 3], "classifier.n_neighbors" = [1, 3] }',
    "plain": 'label = "A"\nclassifier = "knn"',
    "tuned": 'label = "A"\nselector = "relieff"\nclassifier = "knn"\ntune = "default"',
    "range": 'label = "A"\nclassifier = "svm-rbf"\ntune = { C = { first = 0.1, last = 10.0, count = 3 } }',
    "outer": 'label = "A"\nclassifier = "knn"\ntune = { n_neighbors = [1, 3] }\nselection = "per-dataset"',
    "share": 'label = "A"\nselector = "anova-f"\nclassifier = "knn"\ntop = 0.5\nweights = "manhattan"',
    "curve": 'label = "A"\nselector = "anova-f"\nclassifier = "knn"\ncurve = [1, 0.5, "all"]',
    "one size": 'label = "A"\nselector = "anova-f"\nclassifier = "knn"\ntop = "positive"',
}


def recorded(tmp_path, text, **options):
    """Return the plan of a suite and its metadata, as they come out of a file."""
    (tmp_path / "own.toml").write_text(text)
    plan, folder, registry = prepare_suite(
        Request(str(tmp_path / "own.toml"), out=tmp_path / "out", offline=True, **options)
    )
    meta = metadata_of(plan, folder, describe(registry, 1, 0))
    return plan, RunMetadata.from_columns(meta.to_columns(), folder)


def rebuilt(meta, datasets=("iris", "led-7(n_samples=60)"), methods=("A",), **options):
    return rebuilt_plan(meta, datasets, methods, Surroundings(load_registry(), OFFLINE, **options))


def test_the_keys_are_those_of_the_run(subtests, tmp_path):
    for method in METHODS:
        for protocol in ["", "[protocol]\nfolds = 3\ncurve = { count = 3 }\n"]:
            with subtests.test(method=method, protocol=protocol):
                plan, meta = recorded(tmp_path, f"{HEAD}{protocol}[[methods]]\n{METHODS[method]}\n", profile="quick")
                again = rebuilt(meta)
                assert again.plan.trials == plan.trials and not again.reasons


def test_the_keys_of_other_protocols(tmp_path):
    for kind in ("nested-cv", "three-way", "holdout"):
        plan, meta = recorded(tmp_path, f'{HEAD}[protocol]\nkind = "{kind}"\n[[methods]]\n{METHODS["tuned"]}\n')
        assert rebuilt(meta).plan.trials == plan.trials, kind
    text = HEAD.replace('"iris", "led-7(n_samples=60)"', '"rfvm-simulation-1(n_samples=50)"')
    text += '[protocol]\nkind = "ground-truth"\nrounds = 3\n[[methods]]\nlabel = "A"\nselector = "relieff"\n'
    plan, meta = recorded(tmp_path, text)
    assert rebuilt(meta, ("rfvm-simulation-1(n_samples=50)",)).plan.trials == plan.trials
    for top in ("", 'top = "relevant"', "top = 2"):
        plan, meta = recorded(tmp_path, text.replace('selector = "relieff"', f'classifier = "random-forest"\n{top}'))
        assert rebuilt(meta, ("rfvm-simulation-1(n_samples=50)",)).plan.trials == plan.trials, top


def test_only_a_part_is_planned(tmp_path):
    both = f"{HEAD}[[methods]]\n{METHODS['plain']}\n[[methods]]\n{METHODS['share'].replace('A', 'B', 1)}\n"
    _, meta = recorded(tmp_path, both)
    part = rebuilt(meta, ("iris",), ("B",)).plan
    assert (list(part.datasets), list(part.methods)) == (["iris"], ["B"])


def changed(meta, **methods):
    suite = meta.suite.model_dump(mode="json")
    suite["methods"] = [{"label": label, **values} for label, values in methods.items()]
    return RunMetadata.model_validate({**meta.to_columns(), "suite": suite})


def test_what_is_not_installed_is_named(tmp_path):
    _, meta = recorded(tmp_path, f"{HEAD}[[methods]]\n{METHODS['plain']}\n")
    other = changed(meta, A={"classifier": "knn"}, B={"classifier": "no-such"}, C={"classifier": "knn(depth=1)"})
    answer = rebuilt(other, methods=("A", "B", "C"))
    assert list(answer.plan.methods) == ["A"] and set(answer.reasons) == {"B", "C"}
    assert answer.reasons["B"] == "the classifier no-such is not installed here" and "depth" in answer.reasons["C"]
    suite = meta.suite.model_dump(mode="json")
    suite["datasets"][0]["use"] = ["no-such", "iris"]
    answer = rebuilt(RunMetadata.model_validate({**meta.to_columns(), "suite": suite}), ("no-such", "iris"))
    assert list(answer.plan.datasets) == ["iris"] and "unknown dataset" in answer.reasons["no-such"]
    nothing = rebuilt(changed(meta, A={"classifier": "no-such"}))
    assert nothing.plan is None and set(nothing.reasons) == {"A"}
    with pytest.raises(UsageError, match=r"not one that this mfbench reads: methods\.0\.sort"):
        rebuilt(changed(meta, A={"classifier": "knn", "sort": True}))


EVIL = "raise SystemExit('the module was imported')"


def test_classes_are_imported_only_on_request(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil_module.py").write_text(EVIL)
    _, meta = recorded(tmp_path, f"{HEAD}[[methods]]\n{METHODS['plain']}\n")
    answer = rebuilt(changed(meta, A={"classifier": "evil_module:Evil"}))
    assert answer.plan is None and "evil_module" not in sys.modules
    assert answer.reasons["A"] == "it is the class evil_module:Evil, which is imported only with --import-classes"
    fine = rebuilt(changed(meta, A={"classifier": "sklearn.svm:LinearSVC(C=2.0)"}), import_classes=True)
    assert list(fine.plan.methods) == ["A"]


def test_files_come_from_the_folder_that_the_user_names(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.csv").write_text("a,b,y\n" + "\n".join(f"{i},{i % 7},{i % 2}" for i in range(40)))
    text = HEAD.replace('"iris", "led-7(n_samples=60)"', '"file:data/mine.csv"')
    plan, meta = recorded(tmp_path, f"{text}[[methods]]\n{METHODS['plain']}\n")

    def bundled(name):
        suite = meta.suite.model_dump(mode="json")
        suite["datasets"][0]["use"] = [f"file:{name}"]
        return RunMetadata.model_validate({**meta.to_columns(), "suite": suite})

    answer = rebuilt(bundled("mine.csv"), ("mine.csv",))
    assert answer.plan is None and "name its folder with --files" in answer.reasons["mine.csv"]
    assert rebuilt(bundled("mine.csv"), ("mine.csv",), files=tmp_path / "data").plan.trials == plan.trials
    for name in ("../data/mine.csv", str(tmp_path / "data" / "mine.csv")):
        assert rebuilt(bundled(name), (name,), files=tmp_path).plan is None


def installed():
    return sorted(load_registry(only=["mfbench_suites.plugin"]).suites())


@pytest.mark.slow(reason="plans every installed suite twice")
@pytest.mark.parametrize("suite", installed())
def test_the_keys_of_every_installed_suite(tmp_path, suite):
    profiles = ["quick", *(["per-dataset", "as-published"] if suite == "uci" else [])]
    for profile in profiles:
        plan, folder, registry = prepare_suite(Request(suite, profile=profile, out=tmp_path, offline=True))
        if not plan.trials:
            pytest.skip(f"no dataset of {suite} is available without a mirror")
        meta = public_metadata(metadata_of(plan, folder, describe(registry, 1, 0)))
        columns = json.loads(json.dumps(meta.to_columns()))
        again = rebuilt(RunMetadata.from_columns(columns, folder), list(plan.datasets), list(plan.methods))
        assert again.plan.trials == plan.trials and not again.reasons
