"""Reading a suite: each mistake is one sentence with the file, the key path, what was found and what is allowed."""

import re

import pytest

from mfbench.errors import SuiteError, UnknownNameError, UsageError
from mfbench.host.registry import load_registry
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

MISTAKES = {
    "unknown key": ("top2 = 1", "methods[0].top2", "unknown key", "'top'"),
    "unknown table": ("[repot]\nalpha = 0.1", "repot", "unknown key", "'report'"),
    "unknown key of a profile": ("[profiles.quick]\nfold = 3", "profiles.quick.fold", "unknown key", "'folds'"),
    "text for a number": ('[protocol]\nfolds = "5"', "protocol.folds", "'5'", "a whole number"),
    "fraction for a count": ("[protocol]\nfolds = 5.0", "protocol.folds", "5.0", "a whole number"),
    "number for a text": ("selector = 3", "methods[0].selector", "3", "a text"),
    "truth for a number": ("[protocol]\ntimeout = true", "protocol.timeout", "True", "a number"),
    "text for a list": ('[[datasets]]\nuse = "iris"', "datasets[1].use", "'iris'", "a list"),
    "number in a list": ("[[datasets]]\nuse = [3]", "datasets[1].use[0]", "3", "a text"),
    "number for a table": ("[profiles]\nquick = 3", "profiles.quick", "3", "a table"),
    "too few folds": ("[protocol]\nfolds = 1", "protocol.folds", "found 1", "greater than or equal to 2"),
    "too large alpha": ("[report]\nalpha = 0.7", "report.alpha", "0.7", "less than 0.5"),
    "no such protocol": ('[protocol]\nkind = "kfold"', "protocol.kind", "'kfold'", "'repeated-cv'"),
    "no such metric": ('[protocol]\nmetrics = ["acc"]', "protocol.metrics[0]", "'acc'", "'accuracy'"),
    "no such test": ('[report]\ntest = "t"', "report.test", "'t'", "'corrected-t', 'paired-t'"),
    "empty list of datasets": ("[[datasets]]\nuse = []", "datasets[1].use", "empty list", "at least one"),
    "empty text": ('[[datasets]]\nuse = [""]', "datasets[1].use[0]", "''", "at least 1"),
    "empty list of metrics": ("[protocol]\nmetrics = []", "protocol.metrics", "empty list", "at least one"),
    "metric named twice": (
        '[protocol]\nmetrics = ["mcc", "mcc"]', "protocol.metrics", "mcc, mcc", "once"
    ),
    "missing key": ('[[methods]]\nclassifier = "knn"', "methods[1].label", "missing", "add label"),
    "no subset": ('top = "most"', "methods[0].top", "'most'", "'positive', 'all' or 'all-weighted'"),
    "no grid": ("tune = 3", "methods[0].tune", "3", "'default' or a table"),
    "unknown grid": ('tune = "defaults"', "methods[0].tune", "'defaults'", "'default' or a table"),
    "label with blanks": ('[[methods]]\nlabel = " b"\nclassifier = "knn"', "methods[1].label", "' b'", "blanks"),
    "duplicate label": ('[[methods]]\nlabel = "a"\nclassifier = "knn"', "methods[1].label", "'a'", "methods[0]"),
    "unknown reference": ('[report]\nreference = "b"', "report.reference", "'b'", "choose from a"),
}  # fmt: skip


@pytest.mark.parametrize(("more", "place", "found", "allowed"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_with_its_place(more, place, found, allowed):
    with pytest.raises(SuiteError) as caught:
        parse_suite(BASE + more, "own.toml")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"own.toml: {place}: ")
    assert found in message
    assert allowed in message


@pytest.mark.parametrize(
    ("more", "found"), [("tune = { k = [] }", "empty list"), ("tune = { k = 3 }", "found 3")], ids=["empty", "no list"]
)
def test_a_mistake_in_a_grid_names_the_parameter(more, found):
    with pytest.raises(SuiteError, match=re.escape("own.toml: methods[0].tune.k: ")) as caught:
        parse_suite(BASE + more, "own.toml")
    assert found in str(caught.value)


def test_every_mistake_has_a_line_of_its_own():
    with pytest.raises(SuiteError) as caught:
        parse_suite(BASE + "a = 1\nb = 2\n[report]\nalpha = 7", "own.toml")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["methods[0].a", "methods[0].b", "report.alpha"]


def test_a_flood_of_mistakes_is_cut():
    with pytest.raises(SuiteError) as caught:
        parse_suite(BASE + "\n".join(f"k{i} = 1" for i in range(30)), "own.toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 11
    assert lines[-1] == "… and 20 more"


def test_an_empty_file_says_what_a_suite_needs():
    with pytest.raises(SuiteError) as caught:
        parse_suite("", "own.toml")
    places = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert places == ["suite", "datasets", "methods"]


def test_bad_toml_names_the_line():
    with pytest.raises(SuiteError, match=r"^own.toml: not valid TOML: .*line 2"):
        parse_suite("[suite]\nname = \n", "own.toml")


def test_a_file_that_is_not_utf_8_names_the_byte(tmp_path):
    path = tmp_path / "own.toml"
    path.write_bytes("# née".encode("latin-1"))
    with pytest.raises(SuiteError, match=r"own.toml: not UTF-8 text \(byte 3\)"):
        read_text(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SuiteError, match="cannot be read"):
        read_text(tmp_path)


def test_long_values_are_cut():
    with pytest.raises(SuiteError) as caught:
        parse_suite(BASE.replace('"a"', '"' + "x" * 500 + '"'), "own.toml")
    assert len(str(caught.value)) < 200


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
        assert loaded.profile == "paper"
        assert (loaded.protocol.folds, loaded.protocol.repeats) == (3, 2)

    def test_a_standard_profile_goes_over_the_protocol_and_keeps_the_rest(self, suite_file, toy_registry):
        head = '[suite]\nname = "own"\n[protocol]\nfolds = 4\nscale = "range"\ntimeout = 9\n'
        loaded = load_suite(suite_file(head=head), toy_registry, "standard")
        assert (loaded.protocol.folds, loaded.protocol.repeats, loaded.protocol.inner_folds) == (10, 3, 5)
        assert (loaded.protocol.scale, loaded.protocol.timeout) == ("range", 9)
        assert loaded.suite.protocol.folds == 4

    def test_a_profile_of_the_suite_goes_over_the_standard_one_of_its_name(self, suite_file, toy_registry):
        loaded = load_suite(suite_file("[profiles.paper]\nrepeats = 1"), toy_registry, "paper")
        assert (loaded.protocol.folds, loaded.protocol.repeats) == (3, 1)

    def test_a_profile_of_ones_own(self, suite_file, toy_registry):
        loaded = load_suite(suite_file("[profiles.tiny]\nfolds = 2\ntimeout = 1"), toy_registry, "tiny")
        assert (loaded.protocol.folds, loaded.protocol.repeats, loaded.protocol.timeout) == (2, 2, 1)
        assert loaded.request[1:] == ("--profile", "tiny")

    def test_an_unknown_profile_is_answered_with_the_known_ones(self, suite_file, toy_registry):
        with pytest.raises(UnknownNameError, match=r"unknown profile 'papier': did you mean 'paper'.*suite 'own'"):
            load_suite(suite_file(), toy_registry, "papier")

    def test_an_unknown_profile_of_the_file_names_the_key(self, suite_file, toy_registry):
        with pytest.raises(SuiteError, match=r"own.toml: suite.profile: unknown profile 'zzz'.*paper.*quick.*standard"):
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
