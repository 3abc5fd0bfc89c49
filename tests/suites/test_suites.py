"""The shipped suites are valid, their names exist, and each contains its whole collection."""

from pathlib import Path

import pytest

from mfbench.host.expressions import parse
from mfbench.host.registry import load_registry
from mfbench.suite.loading import load_suite, parse_suite
from mfbench.suite.published import load_published
from mfbench.suite.resolve import resolve_methods

SUITES = Path(__file__).resolve().parents[2] / "suites"
# The collection of each suite; that of the SQP-FW paper is divided between two suites.
COLLECTIONS = {
    "uci": "immigrate-uci",
    "gene": "immigrate-gene",
    "similarity": "similarity",
    "sqpfw": "sqpfw",
    "sqpfw-gene": "sqpfw",
    "openml-cc18-small": "openml-cc18-small",
}
# Datasets of a suite that are not in its collection.
MORE = {
    "uci": {
        "iris",
        "wdbc",
        "optdigits",
        "monks-2",
        "monks-3",
        "balance-scale",
        "tic-tac-toe",
        "waveform-21",
        "waveform-40",
        "led-7",
        "led-24",
    },
    "gene": {"prostate", "leukemia", "kidney", "breast-gravier"},
}
# Labels of the 2019 version of the paper that are missing in 2020.
NOT_IN_2020 = {"BRC", "VEC", "WQT"}


@pytest.fixture(scope="module")
def registry():
    return load_registry(
        strict=True, only=["baselines", "datasets", "margin", "relevance", "similarity", "sqpfw", "suites"]
    )


def read(name):
    path = SUITES / f"{name}.toml"
    return parse_suite(path.read_text(encoding="utf-8"), path.name)


def used(suite):
    return [parse(text).name for group in suite.datasets for text in group.use]


def test_valid():
    for path in sorted(SUITES.glob("*.toml")):
        suite = parse_suite(path.read_text(encoding="utf-8"), path.name)
        assert suite.suite.name == path.stem
        assert suite.suite.title and suite.suite.description


def test_methods_and_datasets_exist(registry):
    for name in COLLECTIONS:
        path = SUITES / f"{name}.toml"
        for profile in ("quick", "standard", "full"):
            loaded = load_suite(str(path), registry, profile)
            assert len(resolve_methods(loaded, registry)[0]) == len(loaded.suite.methods)
        names = used(loaded.suite)
        assert set(names) <= set(registry.listed("dataset"))
        assert len(set(names)) == len(names), "each dataset counts once"


def test_suites_have_the_whole_collection(registry):
    for collection in sorted(set(COLLECTIONS.values())):
        expected = {
            dataset
            for dataset, entry in registry.listed("dataset").items()
            if entry.spec.collections.get(collection) is not None
            and entry.spec.collections[collection] not in NOT_IN_2020
        }
        suites = [name for name, label in COLLECTIONS.items() if label == collection]
        names = [dataset for name in suites for dataset in used(read(name))]
        more = set().union(*(MORE.get(name, set()) for name in suites))
        assert len(set(names)) == len(names), "each dataset is in one suite"
        assert set(names) == expected | more
        assert not expected & more


# Columns that the paper of 2020 does not print: IGS and imI come from the manuscript of 2019.
NOT_PRINTED = {"uci": {"IGS", "imI"}}
COMPARED = ["uci", "uci-2019", "uci-boosted", "gene", "gene-2019", "similarity", "sqpfw", "sqpfw-gene"]


def test_as_published_has_the_printed_columns_and_datasets(registry):
    for name in COMPARED:
        path = SUITES / f"{name}.toml"
        loaded = load_suite(str(path), registry, "as-published")
        tables = load_published(loaded, registry)
        cells = {cell for table in tables for cell in table.values}
        labels = set(resolve_methods(loaded, registry)[0])
        assert labels == {method for _, method in cells} | NOT_PRINTED.get(name, set())
        names = {name for table in tables for name in table.about.collections}
        collections = [registry.listed("dataset")[dataset].spec.collections for dataset in used(loaded.suite)]
        assert {dataset for dataset, _ in cells} == {own[name] for own in collections for name in names if name in own}


def test_every_suite_that_compares_with_a_paper_has_the_profile():
    for name in [*COMPARED, "detection", "interaction-noise"]:
        assert "as-published" in read(name).profiles


@pytest.mark.parametrize("path", sorted(SUITES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_profile_has_the_reference(path, registry):
    """Or begins with IGT, the paper's own method, which is then the reference."""
    suite = read(path.stem)
    for profile in ("quick", "standard", "full", *suite.profiles):
        labels = [method.label for method in load_suite(str(path), registry, profile).suite.methods]
        assert suite.report.reference in (None, *labels) or labels[0] == "IGT", profile


def test_as_published_runs_the_papers_solvers(registry):
    def described(name):
        loaded = load_suite(str(SUITES / f"{name}.toml"), registry, "as-published")
        return {label: method.describe() for label, method in resolve_methods(loaded, registry)[0].items()}

    uci, gene = described("uci"), described("gene")
    for text in (uci["IGT"], uci["IGS"], uci["BIM"], gene["EGT"], gene["B4G"]):
        assert "solver='published', cone='psd_clip'" in text
    assert "prune=True" in uci["IGS"] and "n_estimators=100" in uci["BIM"]
    assert uci["REL"].endswith("knn(n_neighbors=1)") and "weighted (manhattan) → knn(p=1)" in uci["RFF"]
    assert "sigma 4.0, 2.0, 1.0, 0.5, 0.25, 0.125" in gene["EGT"]
    rivals = {label: text for label, text in described("sqpfw").items() if label != "SQP-FW"}
    assert all("weighted (euclidean)" in text for text in rivals.values())
    assert "l2 0.0001" in described("similarity")["kNN-A (sRBS)"]


def test_suites_with_published_figures_set_the_test_of_the_paper():
    for name, rule in [
        ("uci", "paired-t"),
        ("uci-boosted", "paired-t"),
        ("gene", "paired-t"),
        ("sqpfw", "paired-t"),
        ("sqpfw-gene", "paired-t"),
        ("similarity", "s-test"),
    ]:
        text = (SUITES / f"{name}.toml").read_text(encoding="utf-8")
        assert f'published_test = "{rule}"' in text
        assert read(name).report.published_test == rule


def test_detection_pairs_compares_the_methods_that_weigh_pairs(registry):
    expected = {"immigrate", "soda", "hiernet", "xgboost-interactions", "logistic-interactions"}
    used_here = {parse(method.classifier or method.selector).name for method in read("detection-pairs").methods}
    assert expected <= used_here


def test_uci_runs_without_network(registry):
    """Thirteen datasets of the suite need neither a mirror nor the network."""
    embedded = [name for name in used(read("uci")) if registry.entry("dataset", name).spec.embedded]
    assert len(embedded) == 13
    assert {"wine-igt", "monks-1"} <= set(embedded) and "wine" not in embedded


def test_comments_give_the_labels(registry):
    """``"sonar",  # SMR``: the comment after a name is its label in the collection, or its OpenML number."""
    more = {"uci-2019": "immigrate-uci", "uci-boosted": "immigrate-uci", "gene-2019": "immigrate-gene"}
    for name, collection in {**COLLECTIONS, **more}.items():
        for line in (SUITES / f"{name}.toml").read_text(encoding="utf-8").splitlines():
            dataset, separator, comment = line.strip().partition('",  # ')
            if separator:
                spec = registry.entry("dataset", dataset.strip('"')).spec
                expected = str(spec.openml_id) if name.startswith("openml") else spec.collections[collection]
                assert comment == expected


def test_published_figures_are_not_suites(registry):
    assert not [name for name in registry.suites() if "published" in str(registry.suites()[name].parent.name)]
    assert set(COLLECTIONS) <= set(registry.suites())


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_selection_curves_has_every_family_before_three_classifiers(profile, registry):
    loaded = load_suite(str(SUITES / "selection-curves.toml"), registry, profile)
    methods = resolve_methods(loaded, registry)[0]
    pairs = {(str(method.selector), str(method.learner)) for method in methods.values()}
    selectors, classifiers = ({pair[position] for pair in pairs} for position in (0, 1))
    assert len(selectors) >= 20 and len(classifiers) == 3
    assert len(pairs) == len(loaded.suite.methods) == len(selectors) * 3
    assert all(method.curve == loaded.protocol.curve for method in methods.values())
    assert loaded.protocol.metrics[0] == "area"
