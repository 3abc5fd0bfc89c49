"""Reading a suite: files that cannot be read, shipped suites and paths, profiles, seeds."""

import pytest

from mfbench import MetricSpec
from mfbench.errors import SuiteError, UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench.model.evaluation import Score
from mfbench.suite.loading import find_suite, load_suite, parse_suite, read_text

BASE = """
[suite]
name = "x"
[[datasets]]
use = ["iris"]
[[methods]]
label = "a"
classifier = "knn"
"""


def test_a_flood_of_mistakes_is_cut():
    with pytest.raises(SuiteError) as caught:
        parse_suite(BASE + "\n".join(f"k{i} = 1" for i in range(30)), "own.toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 11
    assert lines[-1] == "… and 20 more"


def test_bad_toml_names_the_line():
    with pytest.raises(SuiteError, match=r"^own.toml: not valid TOML: .*line 2"):
        parse_suite("[suite]\nname = \n", "own.toml")


@pytest.mark.parametrize("text", ["seed = 1" + "0" * 5000, "x = " + "[" * 100_000])
def test_toml_that_python_refuses_to_read(text):
    with pytest.raises(SuiteError, match=r"^own\.toml: [^\n]*(thousands of digits|nested too deeply)[^\n]*$"):
        parse_suite(text, "own.toml")


def test_a_file_that_is_not_utf_8_names_the_byte(tmp_path):
    path = tmp_path / "own.toml"
    path.write_bytes("# née".encode("latin-1"))
    with pytest.raises(SuiteError, match=r"own.toml: not UTF-8 text \(byte 3\)"):
        read_text(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SuiteError, match="cannot be read"):
        read_text(tmp_path)


class TestFinding:
    @pytest.fixture
    def registry(self, make_plugin, tmp_path):
        (tmp_path / "shipped").mkdir()
        (tmp_path / "shipped" / "uci.toml").write_text(BASE)
        return load_registry(only=[], extra=[("p", make_plugin("p", suites=[tmp_path / "shipped"]))])

    def test_by_name_or_by_path(self, registry, tmp_path, monkeypatch):
        shipped = tmp_path / "shipped" / "uci.toml"
        assert find_suite("uci", registry) == shipped
        assert find_suite(str(shipped), registry) == shipped
        monkeypatch.chdir(tmp_path / "shipped")
        assert find_suite("uci.toml", registry).resolve() == shipped

    def test_an_unknown_name_is_answered_with_the_near_ones(self, registry):
        with pytest.raises(UnknownNameError, match=r"unknown suite 'uc1': did you mean 'uci'"):
            find_suite("uc1", registry)

    @pytest.mark.parametrize("name", ["gone.toml", "some/where", "shipped/"])
    def test_a_path_that_is_no_file_is_named(self, registry, name, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match=f"no suite file '{name}'"):
            find_suite(name, registry)


class TestProfiles:
    def test_without_a_choice_the_suites_own_applies(self, suite_file, toy_registry):
        loaded = load_suite(suite_file(), toy_registry)
        assert loaded.profile == "full"
        assert (loaded.protocol.folds, loaded.protocol.repeats) == (3, 2)

    def test_a_standard_profile_goes_over_the_protocol_and_keeps_the_rest(self, suite_file, toy_registry):
        head = '[suite]\nname = "own"\n[protocol]\nfolds = 4\nscale = "range"\ntimeout = 9\n'
        loaded = load_suite(suite_file(head=head), toy_registry, "standard")
        assert (loaded.protocol.folds, loaded.protocol.repeats, loaded.protocol.inner_folds) == (10, 3, 5)
        assert (loaded.protocol.scale, loaded.protocol.timeout) == ("range", 9)
        assert loaded.suite.protocol.folds == 4

    def test_a_profile_of_the_suite_goes_over_the_standard_one_of_its_name(self, suite_file, toy_registry):
        loaded = load_suite(suite_file("[profiles.full]\nrepeats = 1"), toy_registry, "full")
        assert (loaded.protocol.folds, loaded.protocol.repeats) == (3, 1)

    def test_a_profile_of_ones_own(self, suite_file, toy_registry):
        loaded = load_suite(suite_file("[profiles.tiny]\nfolds = 2\ntimeout = 1"), toy_registry, "tiny")
        assert (loaded.protocol.folds, loaded.protocol.repeats, loaded.protocol.timeout) == (2, 2, 1)
        assert loaded.request[1:] == ("--profile", "tiny")

    def test_an_unknown_profile_is_answered_with_the_known_ones(self, suite_file, toy_registry):
        with pytest.raises(UnknownNameError, match=r"unknown profile 'fulll': did you mean 'full'.*suite 'own'"):
            load_suite(suite_file(), toy_registry, "fulll")

    def test_an_unknown_profile_of_the_file_names_the_key(self, suite_file, toy_registry):
        with pytest.raises(SuiteError, match=r"own.toml: suite.profile: unknown profile 'zzz'.*full.*quick.*standard"):
            load_suite(suite_file(head='[suite]\nname = "own"\nprofile = "zzz"'), toy_registry)


class TestSeed:
    def test_an_argument_goes_over_the_suites_seed_and_is_asked_for_again(self, suite_file, toy_registry):
        loaded = load_suite(suite_file(), toy_registry, seed=0)
        assert loaded.suite.suite.seed == 0
        assert loaded.request[-2:] == ("--seed", "0")
        assert load_suite(suite_file(), toy_registry).suite.suite.seed == 7

    @pytest.mark.parametrize("seed", [-1, 2**32])
    def test_a_seed_out_of_range_is_refused(self, suite_file, toy_registry, seed):
        with pytest.raises(UsageError, match="out of range"):
            load_suite(suite_file(), toy_registry, seed=seed)


class TestMaxRows:
    def test_an_argument_goes_over_the_suites_key_and_is_asked_for_again(self, suite_file, toy_registry):
        loaded = load_suite(suite_file(), toy_registry, max_rows=500)
        assert (loaded.protocol.max_rows, loaded.request[-2:]) == (500, ("--max-rows", "500"))
        assert load_suite(suite_file(), toy_registry).protocol.max_rows is None

    def test_what_cannot_be_sampled_is_refused(self, suite_file, toy_registry):
        with pytest.raises(UsageError, match="--max-rows 9 is too few: use a whole number from 10"):
            load_suite(suite_file(), toy_registry, max_rows=9)
        head = '[suite]\nname = "own"\n[protocol]\nkind = "timing"\n'
        with pytest.raises(UsageError, match=r"--max-rows: the protocol 'timing' of .* does not sample training rows"):
            load_suite(suite_file(head=head), toy_registry, max_rows=500)
        with pytest.raises(SuiteError, match=r"protocol\.max_rows: the protocol 'timing' has no such key"):
            load_suite(suite_file(head=f"{head}max_rows = 500\n"), toy_registry)


class TestKeysOfTheProtocol:
    @pytest.mark.parametrize(
        ("head", "message"),
        [
            ('[protocol]\nkind = "kfold"', "protocol.kind: unknown protocol 'kfold': choose from"),
            ("[protocol]\nfold = 3", "protocol.fold: the protocol 'repeated-cv' has no such key: did you mean 'folds'"),
            ("[profiles.quick]\nfold = 3", "profiles.quick.fold: the protocol 'repeated-cv' has no such key: did you"),
            ("[protocol]\nrounds = 3", "protocol.rounds: the protocol 'repeated-cv' has no such key; it has folds, "),
        ],
    )
    def test_a_mistake_is_one_sentence_with_its_place(self, suite_file, toy_registry, head, message):
        with pytest.raises(SuiteError) as caught:
            load_suite(suite_file(head=f'[suite]\nname = "own"\n{head}'), toy_registry)
        assert message in str(caught.value)


class TestMetrics:
    def load(self, suite_file, metrics="", added=(), registry=None):
        head = f'[suite]\nname = "own"\nprofile = "quick"\n[protocol]\n{metrics and f"metrics = {metrics}"}'
        return load_suite(suite_file(head=head), registry or load_registry(only=()), metrics=added)

    def test_without_a_choice_those_of_the_protocol(self, suite_file):
        loaded = self.load(suite_file)
        assert loaded.protocol.metrics == list(loaded.scores) == ["accuracy", "balanced_accuracy"]
        assert loaded.scores["accuracy"].counts_decisions

    def test_expressions_have_one_form(self, suite_file):
        loaded = self.load(suite_file, '["fbeta( beta = 2 )", "sklearn:roc_auc_ovr"]')
        assert loaded.protocol.metrics == ["fbeta(beta=2)", "sklearn:roc_auc_ovr"]

    def test_added_ones_come_first_and_the_suites_own_stay(self, suite_file):
        loaded = self.load(suite_file, added=["mcc", "balanced_accuracy"])
        assert loaded.protocol.metrics == ["mcc", "balanced_accuracy", "accuracy"]
        assert tuple(loaded.request[-4:]) == ("--metric", "mcc", "--metric", "balanced_accuracy")

    @pytest.mark.parametrize(
        ("metrics", "message"),
        [
            ('["acuracy"]', "unknown metric 'acuracy': did you mean 'accuracy'"),
            ('["mcc", "mcc"]', "'mcc': list each metric only once"),
            ('["fbeta(beta=2)", "fbeta(beta=2 )"]', "'fbeta(beta=2)': list each metric only once"),
            ('["fbeta(gamma=1)"]', "unknown parameter 'gamma' of 'fbeta'"),
            ('["fbeta(beta=import)"]', "cannot read 'fbeta(beta=import)'"),
            (
                "[\"fbeta(average='\\\\u00e9')\"]",
                "a metric with its parameters has at most 200 characters, all of them ASCII",
            ),
            ('["sklearn:r2"]', "unknown metric 'sklearn:r2'"),
            ('["fdp"]', "the protocol 'repeated-cv' does not measure 'fdp'"),
            ('["area"]', "'area' is the area under another score; list that one as well"),
            ('["brier_score", "area"]', "'area' would be the area under 'brier_score', for which smaller values"),
            ("[]", "an empty list; list at least one metric, or leave it out"),
        ],
    )
    def test_a_mistake_is_one_sentence_with_its_place(self, suite_file, metrics, message):
        with pytest.raises(SuiteError) as caught:
            self.load(suite_file, metrics)
        assert "protocol.metrics: " + message in str(caught.value)

    def test_a_mistake_in_the_option_names_it(self, suite_file):
        with pytest.raises(UsageError, match=r"^--metric 'acuracy': unknown metric 'acuracy': did you mean 'accuracy'"):
            self.load(suite_file, added=["acuracy"])
        with pytest.raises(UsageError, match=r"^--metric 'mcc': 'mcc': list each metric only once"):
            self.load(suite_file, added=["mcc", "mcc"])
        with pytest.raises(UsageError, match="has at most 200 characters, all of them ASCII"):  # no run could be read
            self.load(suite_file, added=[f"fbeta(average={'x' * 200!r})"])

    def test_a_metric_of_a_plugin(self, suite_file, make_plugin):
        spec = MetricSpec(name="errors", summary="", function=lambda y_true, y_pred: 1.0, percent=False, lowest=0.0)
        registry = load_registry(only=(), extra=[("theirs", make_plugin("theirs", metrics=[spec]))])
        loaded = self.load(suite_file, added=["errors"], registry=registry)
        assert loaded.scores["errors"] == Score(percent=False, lowest=0.0)
