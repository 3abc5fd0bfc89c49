"""From a reference to a dataset of a mirror, the cache or a repository: order, checks, and the words when offline."""

from dataclasses import replace

import numpy as np
import pytest

from mfbench import Dataset, DatasetSpec
from mfbench.data import catalog
from mfbench.data import repositories as openml
from mfbench.data import repositories as uci
from mfbench.data.cache import DataOptions
from mfbench.data.catalog import check_exists, load
from mfbench.data.lookup import Lookup, keys_of
from mfbench.data.reference import parse_reference
from mfbench.errors import DataError, DataUnavailableError, UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

THINGS = {"n_samples": 12, "n_features": 3, "n_classes": 2}
RAW = Dataset(
    name="raw",
    X=np.arange(36.0).reshape(12, 3),
    y=np.array([0, 1] * 6),
    class_names=("mine", "rock"),
    feature_names=("size", "colour", "code"),
    categorical=np.zeros(3, bool),
)


@pytest.fixture
def shelf(make_plugin):
    specs = [
        DatasetSpec(name="things", summary="", openml_id=7, uci_id=8, **THINGS),
        DatasetSpec(name="small-things", summary="", mirror_name="things", drop=["code"], n_samples=12, n_features=2),
        DatasetSpec(name="wrong-things", summary="", mirror_name="things", n_samples=13, n_features=3),
        DatasetSpec(name="made", summary="", loader=lambda n=12: replace(RAW, X=RAW.X[:n], y=RAW.y[:n]), **THINGS),
        DatasetSpec(name="with-target", summary="", uci_id=9, target="kind", drop=["id"], categorical=["code"]),
        DatasetSpec(name="nowhere", summary=""),
    ]
    return make_plugin("shelf", datasets=specs)


@pytest.fixture
def registry(shelf):
    return load_registry(only=[], extra=[("shelf", shelf)])


class Repositories:
    """Stand-ins for the clients that count what they are asked for."""

    def __init__(self):
        self.calls, self.fail = [], {}

    def answer(self, prefix):
        def load(reference, *, progress=None, **options):
            key = f"{prefix}:{reference}"
            self.calls.append((key, options) if options else key)
            if progress is not None:
                progress(0, 10)
            if key in self.fail or prefix in self.fail:
                raise self.fail.get(key) or self.fail[prefix]
            return replace(RAW, name=key), {"url": f"https://{prefix}.example.org", "checksum": "0"}

        return load

    def suite(self, reference):
        self.calls.append(f"suite {reference}")
        if "openml" in self.fail:
            raise self.fail["openml"]
        return [7, 61]


@pytest.fixture
def repositories(monkeypatch):
    found = Repositories()
    monkeypatch.setattr(openml, "load_openml", found.answer("openml"))
    monkeypatch.setattr(openml, "openml_suite", found.suite)
    monkeypatch.setattr(uci, "load_uci", found.answer("uci"))
    return found


@pytest.fixture
def places(tmp_path):
    """Return a function that makes the options of a request, with a cache of the test's own."""
    return lambda mirror=None, offline=False: DataOptions(mirror, tmp_path / "cache", offline)


REFUSED = "cannot fetch it at https://x: connection refused (5 attempts)"
DOWN = DataUnavailableError(REFUSED, "check the network", attempt=REFUSED)


def find(text, registry, lookup):
    return catalog.find(parse_reference(text), registry, lookup)


class TestOrder:
    def test_mirror_then_cache_then_network(self, registry, repositories, places, write_mirror):
        mirror = write_mirror()
        found = find("things", registry, Lookup(places(mirror)))
        assert (found.location, found.key, found.data.name) == ("mirror", "mirror:things", "things")
        assert repositories.calls == []
        assert find("things", registry, Lookup(places())).location == "network"
        assert repositories.calls == ["openml:7"]
        again = find("things", registry, Lookup(places()))
        assert (again.location, again.key) == ("cache", "openml:7")
        assert again.card["url"] == "https://openml.example.org"
        assert find("things", registry, Lookup(places(mirror))).location == "mirror"
        assert find("things", registry, Lookup(places(offline=True))).location == "cache"
        assert repositories.calls == ["openml:7"]

    def test_a_loader_goes_over_everything(self, registry, places, write_mirror):
        assert find("made", registry, Lookup(places(write_mirror(name="made")))).location == "embedded"

    def test_the_second_repository_is_asked_when_the_first_is_out_of_reach(self, registry, repositories, places):
        repositories.fail["openml"] = DOWN
        assert find("things", registry, Lookup(places())).key == "uci:8"
        assert repositories.calls == ["openml:7", "uci:8"]

    def test_a_refusal_is_told_and_not_hidden_by_another_source(self, registry, repositories, places):
        repositories.fail["openml"] = DataError("damaged on the server")
        with pytest.raises(DataError, match="damaged on the server"):
            load("things", registry, options=places())
        assert repositories.calls == ["openml:7"]

    def test_a_server_that_is_down_is_waited_for_once(self, registry, repositories, places):
        repositories.fail = {"openml": DOWN, "uci": DOWN}
        lookup = Lookup(places())
        # Later ones are not blamed with the words of the first: they were not asked for at all.
        told = {
            "things": "connection refused",
            "openml:61": "OpenML could not be reached",
            "uci:53": "UCI repository could not be reached",
        }
        for reference, words in told.items():
            with pytest.raises(DataUnavailableError, match=rf"{words}.*; to try again, run: mfbench datasets pull"):
                find(reference, registry, lookup)
        assert repositories.calls == ["openml:7", "uci:8"]

    def test_a_damaged_mirror_is_not_passed_over(self, registry, repositories, places, write_mirror):
        folder = write_mirror()
        (folder / "things.csv.gz").write_bytes(b"")
        with pytest.raises(DataError, match=r"things.csv.gz has the SHA-256"):
            load("things", registry, options=places(folder))
        assert repositories.calls == []

    def test_a_damaged_cache_is_mended_online_and_told_offline(self, registry, repositories, places, tmp_path):
        load("openml:61", registry, options=places())
        (table,) = (tmp_path / "cache" / "content").iterdir()
        table.write_bytes(b"")
        with pytest.raises(DataError, match=r"'openml:61' is damaged: .*; download it again without --offline"):
            load("openml:61", registry, options=places(offline=True))
        with pytest.warns(UserWarning, match="it is fetched again"):
            assert find("openml:61", registry, Lookup(places())).location == "network"


class TestOffline:
    def test_the_words(self, subtests, registry, repositories, places):
        for reference, words in [
            ("things", ["not in the cache, and the network is off", "mfbench datasets pull things", "--data-dir"]),
            ("openml:61", ["and the network is off", "mfbench datasets pull openml:61"]),
            ("uci:53", ["and the network is off", "mfbench datasets pull uci:53"]),
            ("openml-suite:99", ["and the network is off", "mfbench datasets pull openml-suite:99"]),
            ("nowhere", ["no known repository has it", "--data-dir"]),
            ("mirror:things", ["not in the cache", "--data-dir"]),
            ("import:mine", ["mfbench datasets import FILE --name mine"]),
        ]:
            with subtests.test(reference=reference, words=words):
                with pytest.raises(DataUnavailableError) as caught:
                    load(reference, registry, options=places(offline=True))
                assert all(word in str(caught.value) for word in words)
                assert repositories.calls == []

    def test_an_imported_mirror_serves_registered_datasets(self, registry, places, write_mirror):
        from mfbench.data.lookup import import_path

        lookup = Lookup(places(offline=True))
        assert [outcome.state for outcome in import_path(write_mirror(), lookup)] == ["imported"]
        found = find("things", registry, lookup)
        assert (found.location, found.key) == ("cache", "mirror:things")
        assert load("mirror:things", registry, options=places(offline=True)).n_samples == 12


class TestPreparation:
    def test_it_is_applied_and_the_size_is_checked(self, registry, places, write_mirror):
        options = places(write_mirror())
        assert load("small-things", registry, options=options).feature_names == ("size", "colour")
        with pytest.raises(
            DataError, match=r"has 12 rows, 3 features and 2 classes; its description says 13, 3 and any"
        ):
            load("wrong-things", registry, options=options)

    def test_what_is_downloaded_is_checked_too(self, registry, repositories, places, make_plugin):
        plugin = make_plugin("p", datasets=[DatasetSpec(name="d", summary="", openml_id=1, class_counts={"mine": 12})])
        with pytest.raises(DataError, match=r"'d' from openml:1 has the class counts .*'rock': 6.* says {'mine': 12}"):
            load("d", load_registry(only=[], extra=[("p", plugin)]), options=places())

    def test_a_downloaded_target_of_numbers_is_read_as_numbers(self, monkeypatch, places, make_plugin):
        of_text = replace(RAW, class_names=("20.5", "1e3"))
        monkeypatch.setattr(openml, "load_openml", lambda reference, **_: (of_text, {}))
        spec = DatasetSpec(name="d", summary="", task="regression", openml_id=1, n_samples=12, n_features=3)
        registry = load_registry(only=["tasks"], extra=[("p", make_plugin("p", datasets=[spec]))])
        dataset = load("d", registry, options=places())
        assert (dataset.task, dataset.class_names) == ("regression", ())
        assert dataset.y.tolist() == [20.5, 1000.0] * 6

    def test_how_a_table_is_read_is_part_of_its_key(self, registry, repositories, places):
        with pytest.raises(DataError, match=r"has the class counts|no column|'with-target'|12 rows") as caught:
            load("with-target", replace_spec(registry, n_samples=1), options=places())
        assert "with-target" in str(caught.value)
        ((key, options),) = repositories.calls
        assert key == "uci:9"
        assert options == {"target": "kind", "categorical": ("code",), "drop": ("id",)}
        assert keys_of(registry.listed("dataset")["with-target"].spec)[1] == (
            'uci:9 {"categorical": ["code"], "drop": ["id"], "target": "kind"}'
        )

    def test_a_description_that_names_a_wrong_column_is_no_mistake_of_the_user(self, registry, repositories, places):
        repositories.fail["uci"] = UsageError("unknown target column 'kind'")
        with pytest.raises(DataError, match=r"'with-target' cannot be loaded: unknown target column 'kind'") as caught:
            load("with-target", registry, options=places())
        assert not isinstance(caught.value, UsageError)


def replace_spec(registry, **changes):
    entry = registry.listed("dataset")["with-target"]
    registry.listed("dataset")["with-target"] = replace(entry, spec=replace(entry.spec, **changes))
    return registry


class TestReferences:
    def test_numbers_and_names(self, registry, repositories, places):
        for reference in ("openml:61", "openml:iris@1", "openml:iris", "uci:53"):
            data = load(reference, registry, options=places())
            assert data.name == reference
        assert repositories.calls == ["openml:61", "openml:iris@1", "openml:iris", "uci:53"]

    def test_target_and_categorical_reach_the_repository(self, registry, repositories, places):
        for _ in range(2):
            load("uci:53", registry, options=places(), target="size", categorical=["code"])
        load("uci:53", registry, options=places())
        assert repositories.calls == [("uci:53", {"target": "size", "categorical": ("code",)}), "uci:53"]

    def test_odd_ones_are_refused_before_anything_is_asked(self, subtests, registry, repositories, places):
        for reference in [
            *("openml:", "openml:a/b", "openml:iris@", "openml:iris@0", "openml:1?x"),
            *("uci:", "uci:iris", "uci:0", "uci:-1", "openml-suite:a/b", "import:/etc/passwd"),
            *("mirror:../x", "mirror:a/b", "mirror:", "mirror:.x", "mirror:a..b"),
        ]:
            with subtests.test(reference=reference):
                with pytest.raises(UsageError, match="write it like"):
                    parse_reference(reference)
                with pytest.raises(UsageError, match="write it like"):
                    load(reference, registry, options=places())
                assert repositories.calls == []

    def test_a_dataset_without_a_loader_has_no_parameters(self, registry):
        with pytest.raises(UnknownNameError, match=r"parameter 'n' of 'things': there are none"):
            check_exists(parse_reference("things(n=3)"), registry)

    def test_columns_are_not_for_the_others(self, registry):
        for reference in ("things", "mirror:things", "import:mine"):
            with pytest.raises(UsageError, match="defines its own columns"):
                load(reference, registry, target="x")

    def test_a_suite_is_no_dataset(self, registry, repositories, places):
        with pytest.raises(UsageError, match="a list of datasets"):
            load("openml-suite:99", registry, options=places())


class TestLocation:
    def test_a_mirror_that_is_none_matters_only_when_it_is_needed(self, registry, places, tmp_path):
        options = places(tmp_path / "none")
        assert load("made", registry, options=options).n_samples == 12
        with pytest.raises(UsageError, match="is not a mirror"):
            load("things", registry, options=options)

    def test_where_a_dataset_is(self, registry, repositories, places, write_mirror):
        specs = {name: entry.spec for name, entry in registry.listed("dataset").items()}
        lookup = Lookup(places(write_mirror()))
        told = {name: lookup.location(spec) for name, spec in specs.items()}
        assert (told["made"], told["things"], told["nowhere"]) == ("embedded", "mirror", "missing")
        load("openml:7", registry, options=places())
        assert Lookup(places()).location(specs["things"]) == "cached"
        assert Lookup(places()).location(specs["small-things"]) == "missing"


SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
[[datasets]]
use = [{use}]
[[methods]]
label = "A"
classifier = "nearest"
"""


class TestPlans:
    @pytest.fixture
    def plan(self, shelf, toy_plugin, tmp_path):
        def make(use, options, only=()):
            (tmp_path / "own.toml").write_text(SUITE.format(use=use))
            together = load_registry(only=[], extra=[("toy", toy_plugin), ("shelf", shelf)])
            loaded = load_suite(str(tmp_path / "own.toml"), together)
            return make_plan(loaded, together, only, Lookup(options))

        return make

    def test_what_is_unavailable_is_left_out_and_no_failure(self, plan, places, write_mirror):
        use = '"made", "things", "nowhere", "broken", "wrong-things"'
        without = plan(use, places(offline=True))
        assert list(without.datasets) == ["made"]
        assert without.failures == ["broken"]
        assert set(without.left_out) == {"things", "nowhere", "broken", "wrong-things"}
        with_mirror = plan(use, places(write_mirror(), offline=True))
        assert list(with_mirror.datasets) == ["made", "things"]
        assert with_mirror.failures == ["broken", "wrong-things"]

    def test_where_data_were_found_does_not_reach_the_keys(self, plan, places, repositories, write_mirror):
        from mfbench.data.lookup import import_path

        mirror = write_mirror()
        keys = [trial.key for trial in plan('"things"', places(mirror)).trials]
        assert keys and repositories.calls == []
        list(import_path(mirror, Lookup(places())))
        again = plan('"things"', places(offline=True))
        assert [trial.key for trial in again.trials] == keys

    def test_an_openml_suite_stands_for_its_datasets(self, plan, places, repositories):
        use = '"openml:61", "openml-suite:99"'
        assert list(plan(use, places()).datasets) == ["openml:61", "openml:7"]
        repositories.calls.clear()
        assert list(plan(use, places(offline=True)).datasets) == ["openml:61", "openml:7"]
        assert list(plan(use, places(offline=True), only=["*:7"]).datasets) == ["openml:7"]
        assert repositories.calls == []

    def test_one_whose_list_is_unavailable_is_left_out(self, plan, places, repositories):
        offline = plan('"made", "openml-suite:99"', places(offline=True))
        assert "mfbench datasets pull openml-suite:99" in offline.left_out["openml-suite:99"]
        assert offline.failures == []
        repositories.fail["openml"] = DOWN
        down = plan('"made", "openml-suite:99", "openml:61"', places())
        assert set(down.left_out) == {"openml-suite:99", "openml:61"}
        assert down.failures == []
        assert repositories.calls == ["suite 99"]

    def test_a_mirror_that_is_none_is_told_at_once(self, plan, places, tmp_path):
        assert plan('"made"', places(tmp_path)).trials
        with pytest.raises(UsageError, match=r"^\S+ is not a mirror of datasets"):
            plan('"made", "things"', places(tmp_path))
