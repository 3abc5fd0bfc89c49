"""Methods and datasets that a command adds to a suite."""

import sys

import pytest
from sklearn.svm import LinearSVC

from mfbench.data.lookup import Lookup
from mfbench.errors import DataError, PluginError, SuiteError, UsageError
from mfbench.host.registry import load_registry
from mfbench.run.runner import run_folder
from mfbench.suite.additions import additions_of, option_of, parse_addition, with_additions
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

FORM = "write LABEL = LEARNER or LABEL = SELECTOR -> LEARNER, such as"
ROUNDS = """
[suite]
name = "own"
[protocol]
kind = "ground-truth"
rounds = 2
"""
DETECTORS = """
[[methods]]
label = "A"
selector = "anova-f"
"""


@pytest.fixture
def added(suite_file, toy_registry):
    """Return a function from additions, and perhaps parts of the suite, to the suite with them."""

    def add(*methods, registry=toy_registry, data=(), target=None, reference=None, **parts):
        loaded = load_suite(suite_file(**parts), registry)
        return with_additions(loaded, registry, additions_of(methods, registry), data, target, reference)

    return add


def test_a_method_is_a_label_and_steps_with_arrows_between():
    method = parse_addition("MINE = weigh(power=2) → nearest")
    assert (method.label, method.selector, method.classifier) == ("MINE", "weigh(power=2)", "nearest")
    assert method == parse_addition("  MINE=weigh(power=2)->nearest  ")
    assert "top" not in method.model_fields_set


def test_a_rule_for_the_features_may_stand_between_the_steps():
    for rule, top in [
        ("5", 5),
        ("0.5", 0.5),
        ("1.0", 1.0),
        ("all-weighted", "all-weighted"),
        ("  positive ", "positive"),
    ]:
        method = parse_addition(f"MINE = weigh -> top {rule} -> nearest")
        assert method.top == top and type(method.top) is type(top)


def test_a_lone_name_is_the_classifier():
    assert parse_addition("MINE = my_module.sub:MyClass(alpha=2)").classifier == "my_module.sub:MyClass(alpha=2)"


def test_arrows_and_equals_signs_of_parameters_are_no_separators():
    for text, label, selector, classifier in [
        ("A = a(x='p -> q') -> b", "A", "a(x='p -> q')", "b"),
        ("A = a(x='p\\' -> q') -> b", "A", "a(x='p\\' -> q')", "b"),
        ('A = a(x="→") → b(y=["->"])', "A", 'a(x="→")', 'b(y=["->"])'),
        ("kNN (a=1) = knn", "kNN (a=1)", None, "knn"),
        ("Ben's = knn(p='=')", "Ben's", None, "knn(p='=')"),
    ]:
        method = parse_addition(text)
        assert (method.label, method.selector, method.classifier) == (label, selector, classifier)


def test_what_has_another_form_is_one_sentence_that_names_the_option():
    for text, reason in [
        ("", FORM),
        ("MINE", FORM),
        ("MINE =", FORM),
        ("= knn", FORM),
        ("knn(n_neighbors=3)", FORM),
        ("MINE -> b = knn", FORM),
        ("MINE = a -> b -> c -> d", FORM),
        ("MINE = a -> b -> c", FORM),
        ("MINE = a -> -> c", FORM),
        ("MINE = -> c", FORM),
        ("MINE = a -> top 3 -> top 4 -> b", FORM),
        ("MINE = a -> b -> top 3", FORM),
        ("MI\x1b[31mNE = knn", "the label has characters that cannot be printed"),
        ("MI\ud800NE = knn", "the label has characters that cannot be printed"),
        (f"{'M' * 25} = knn", "label: found 'MMM.*24 characters"),
        ("MINE = knn(3)", "write parameters as name=value"),
        ("MINE = knn(n_neighbors=3", "cannot read 'knn"),
        ("MINE = knn(f=open('x'))", "must be a literal"),
        ("MINE = knn(x='->", "cannot read"),
        ("MINE = a -> top 0 -> knn", "top: found 0"),
        ("MINE = a -> top 1.5 -> knn", "top: found 1.5"),
        ("MINE = a -> top nan -> knn", "top: found nan"),
        ("MINE = a -> top most -> knn", "top: found 'most'"),
        ("MINE = ../evil:run", "cannot read '../evil:run'"),
    ]:
        with pytest.raises(UsageError, match=reason) as caught:
            parse_addition(text)
        message = str(caught.value)
        assert message.startswith(f"{option_of(text)}: ") and message.isprintable()


def test_a_long_text_is_cut_in_messages():
    with pytest.raises(UsageError) as caught:
        parse_addition("x" * 100_000)
    assert len(str(caught.value)) < 500


class TestPython:
    def test_strings_pairs_and_mappings_become_text(self, toy_registry):
        weigh, nearest = (
            toy_registry.listed("selector")["weigh"].spec.factory,
            toy_registry.listed("classifier")["nearest"].spec.factory,
        )
        texts = ["A = weigh -> nearest(shift=2.0)", "B = sklearn.svm:LinearSVC(C=2.0)", "C = weigh -> top 2 -> plain"]
        mapping = {"A": ("weigh", nearest(shift=2.0)), "B": LinearSVC(C=2.0), "C": "weigh -> top 2 -> plain"}
        assert additions_of(mapping, toy_registry) == texts
        assert additions_of(list(mapping.items()), toy_registry) == texts
        assert additions_of([texts[0], ("B", LinearSVC(C=2.0))], toy_registry) == texts[:2]
        assert additions_of(texts[0], toy_registry) == texts[:1]
        assert additions_of({"A": (weigh(power=3.0), "plain")}, toy_registry) == ["A = weigh(power=3.0) -> plain"]
        assert additions_of((), toy_registry) == []

    def test_what_is_not_a_method_is_refused(self, toy_registry):
        for add, reason in [
            (LinearSVC(), r"without a label: write add=\{'MINE': …\}"),
            ([LinearSVC()], "without a label"),
            ([("A", "b", "c")], "without a label"),
            ([(1, "knn")], "without a label"),
            ({"A": ("weigh", 5, "plain")}, "cannot add 'A': expected a learner, or a pair"),
            ({"A": ()}, "cannot add 'A'"),
            ({"a=b": "knn"}, "'a=b' cannot be the label"),
            ({" a": "knn"}, "' a' cannot be the label"),
            ({"A": 3}, "A: cannot add 3"),
            ({"A": lambda: None}, "A: cannot add a lambda"),
        ]:
            with pytest.raises(UsageError, match=reason):
                additions_of(add, toy_registry)


class TestMethods:
    def test_they_follow_those_of_the_file_and_leave_their_keys_as_they_are(self, added, planned, toy_registry):
        before = planned()
        plan = make_plan(added("MINE = weigh -> top 2 -> plain"), toy_registry)
        assert list(plan.methods) == [*before.methods, "MINE"]
        keys = [trial.key for trial in plan.trials if trial.method != "MINE"]
        assert keys == [trial.key for trial in before.trials]
        assert [(t.dataset, t.method, t.repeat, t.fold, t.seed) for t in plan.trials if t.method != "MINE"] == [
            (t.dataset, t.method, t.repeat, t.fold, t.seed) for t in before.trials
        ]
        assert len(plan.trials) == len(before.trials) * 3 // 2

    def test_a_run_with_additions_has_its_own_folder_and_is_requested_by_the_same_words(self, added, tmp_path):
        plain, mine, other = added(), added("MINE = plain"), added("MINE = plain(k=2)")
        assert len({run_folder(tmp_path, loaded) for loaded in (plain, mine, other)}) == 3
        assert run_folder(tmp_path, added("MINE = plain")) == run_folder(tmp_path, mine)
        words = added("MINE = plain", "M2 = nearest", reference="M2").request
        assert words[3:] == ("--add", "MINE = plain", "--add", "M2 = nearest", "--reference", "M2")

    def test_what_does_not_fit_the_suite_is_refused(self, added):
        for methods, reason in [
            (["A = plain"], r'--add "A = plain": \'A\' is already the label of a method of the suite'),
            (["M = plain", "M = nearest"], r'--add "M = nearest": \'M\' is already the label of another addition'),
            (["M = weigh"], "'weigh' is a selector; write a classifier after it, such as 'weigh -> knn'"),
            (["M = weigh -> top 3"], "so write a classifier after the rule"),
            (["M = nowhere_at_all:Mine"], "there is no module 'nowhere_at_all'"),
        ]:
            with pytest.raises(UsageError, match=reason):
                added(*methods)

    def test_a_mistake_is_located_by_the_option(self, added, toy_registry):
        for text, reason in [
            ("M = plane", "--add \"M = plane\": unknown classifier 'plane': did you mean"),
            ("M = weight -> plain", '--add "M = weight -> plain": unknown selector'),
            ("M = plain(x=1)", "unknown parameter 'x' of 'plain'"),
            ("M = weigh -> top relevant -> plain", "'relevant' is only for the protocol 'ground-truth'"),
        ]:
            with pytest.raises(SuiteError, match=reason) as caught:
                make_plan(added(text), toy_registry)
            assert str(caught.value).startswith(f"{option_of(text)}: ")

    def test_a_mistake_of_the_file_is_still_located_by_the_file(self, added, toy_registry):
        with pytest.raises(SuiteError, match=r"own\.toml: methods\[0\]\.classifier"):
            make_plan(added("M = plain", methods='[[methods]]\nlabel = "X"\nclassifier = "plane"'), toy_registry)

    def test_a_suite_file_cannot_name_a_class_by_its_place(self, added, toy_registry):
        with pytest.raises(SuiteError, match=r"classifier: 'os:system' is the import path of a class, but"):
            make_plan(added(methods='[[methods]]\nlabel = "X"\nclassifier = "os:system"'), toy_registry)
        with pytest.raises(SuiteError, match=r"classifier: 'os:system' is the import path of a class, but"):
            make_plan(added(methods='[[methods]]\nlabel = "X"\nclassifier = "plain(x=os:system)"'), toy_registry)

    def test_one_that_cannot_be_imported_is_an_error_instead_of_being_left_out(
        self, added, tmp_path, monkeypatch, toy_plugin
    ):
        (tmp_path / "mine_that_fails.py").write_text("raise OSError('no licence')")
        monkeypatch.syspath_prepend(tmp_path)
        registry = load_registry(only=[], extra=[("toy", toy_plugin)])
        loaded = added("M = mine_that_fails:Mine", registry=registry)
        with pytest.raises(PluginError, match=r'--add "M = mine_that_fails:Mine": .*no licence'):
            make_plan(loaded, registry)
        sys.modules.pop("mine_that_fails", None)

    def test_patterns_never_leave_them_out(self, added, toy_registry):
        loaded = added("MINE = plain")
        assert list(make_plan(loaded, toy_registry, ["B"]).methods) == ["B", "MINE"]
        assert list(make_plan(loaded, toy_registry, ["MINE"]).methods) == ["MINE"]
        assert list(make_plan(loaded, toy_registry, ["blobs"]).methods) == ["A", "B", "MINE"]

    def test_its_description_names_the_class_by_its_place(self, added):
        registry = load_registry(only=["baselines", "datasets"])
        parts = {"datasets": '[[datasets]]\nuse = ["iris"]', "methods": '[[methods]]\nlabel="A"\nclassifier="knn"'}
        plan = make_plan(added("M = anova-f -> sklearn.svm:LinearSVC(C=2.0)", registry=registry, **parts), registry)
        assert plan.methods["M"].describe() == "anova-f → top positive → sklearn.svm:LinearSVC(C=2.0)"

    def test_published_figures_are_not_those_of_an_added_method(self, tmp_path):
        registry = load_registry(only=["baselines", "datasets", "margin", "suites"])
        loaded = with_additions(load_suite("uci", registry), registry, ["ADA 2 = knn", "IGT mine = knn"])
        plan = make_plan(loaded, registry, ["wine-igt", "1NN"])
        assert {figure.method for figure in plan.figures} == {"1NN"}


class TestReference:
    def test_it_may_be_an_added_method(self, added):
        assert added("MINE = plain", reference="MINE").suite.report.reference == "MINE"

    def test_one_that_does_not_exist_is_refused_with_similar_ones(self, added):
        with pytest.raises(UsageError, match="--reference: no method has the label 'MIN': did you mean 'MINE'"):
            added("MINE = plain", reference="MIN")


class TestDatasets:
    @pytest.fixture
    def table(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rows = "".join(f"{'no' if i % 2 else 'yes'},{i},{i % 3}\n" for i in range(24))
        (tmp_path / "mine.csv").write_text(f"outcome,a,b\n{rows}")
        return tmp_path

    def test_a_file_is_found_from_the_working_directory(self, added, toy_registry, table, tmp_path_factory):
        loaded = added(data=["file:mine.csv"], target="outcome")
        plan = make_plan(loaded, toy_registry, lookup=Lookup())
        assert list(plan.datasets) == ["blobs", "mine.csv"]
        assert plan.datasets["mine.csv"].data.class_names == ("no", "yes")
        assert loaded.request[3:] == ("--add-data", "file:mine.csv", "--target", "outcome")
        assert list(make_plan(loaded, toy_registry, ["blobs"]).datasets) == ["blobs", "mine.csv"]

    def test_all_classes_of_added_data_are_kept_whatever_the_suite_keeps(self, added, toy_registry, table):
        (table / "three.csv").write_text("a,outcome\n" + "".join(f"{i},{'xyz'[i % 3]}\n" for i in range(36)) + "24,x\n")
        head = '[suite]\nname = "own"\n[protocol]\nclasses = "two-largest"\n'
        file = '[[datasets]]\nuse = ["file:three.csv"]'
        kept, own = (
            make_plan(loaded, toy_registry).datasets["three.csv"]
            for loaded in (added(head=head, data=["file:three.csv"]), added(head=head, datasets=file))
        )
        assert (kept.data.class_names, kept.data.n_samples, kept.dropped) == (("x", "y", "z"), 37, {})
        assert (own.data.class_names, own.data.n_samples, own.dropped) == (("x", "y"), 25, {"z": 12})

    def test_the_target_is_that_of_the_datasets_with_columns(self, added, toy_registry, table):
        loaded = added(data=["file:mine.csv", "other-blobs"], target="outcome")
        assert list(make_plan(loaded, toy_registry).datasets) == ["blobs", "mine.csv", "other-blobs"]

    def test_options_that_do_not_fit_are_refused(self, added, table):
        for data, target, reason in [
            ([], "outcome", "--target 'outcome' is the target column of an added dataset: add one"),
            (["other-blobs"], "outcome", "--target 'outcome' is the target column"),
            (["mine.csv"], None, r'--add-data "mine\.csv": to add a file, write --add-data file:mine\.csv'),
            (["openml:../x"], None, '--add-data "openml:../x": cannot read'),
            (["a b"], None, "--add-data .*cannot read"),
        ]:
            with pytest.raises(UsageError, match=reason):
                added(data=data, target=target)

    def test_one_that_cannot_be_used_is_an_error_instead_of_being_left_out(self, added, toy_registry, table):
        for data, target, reason in [
            ("blobs", None, "'blobs' is listed twice"),
            ("blubs", None, "unknown dataset 'blubs'"),
            ("file:none.csv", None, "none.csv"),
            ("file:mine.csv", "colour", "colour"),
            ("broken", None, "the disk is gone"),
        ]:
            with pytest.raises((UsageError, DataError, PluginError), match=reason) as caught:
                make_plan(added(data=[data], target=target), toy_registry)
            assert str(caught.value).startswith(option_of(data, "--add-data"))


class TestDetection:
    @pytest.fixture
    def rounds(self, added):
        registry = load_registry(only=["baselines", "datasets"], strict=True)
        parts = {"head": ROUNDS, "methods": DETECTORS, "datasets": '[[datasets]]\nuse = ["xor"]'}

        def plan(*methods, data=()):
            return make_plan(added(*methods, data=data, registry=registry, **parts), registry)

        return plan

    def test_a_lone_selector_is_added(self, rounds):
        plan = rounds("MINE = variance", "TOP = variance -> top relevant", data=["corral"])
        assert plan.methods["MINE"].learner is None and plan.methods["TOP"].top == "relevant"
        assert list(plan.datasets) == ["xor", "corral"]

    def test_a_lone_class_is_a_selector_and_a_classifier_stays_one(self, rounds):
        plan = rounds("MINE = sklearn.ensemble:ExtraTreesClassifier", "LDA = lda")
        assert plan.methods["MINE"].selector is not None and plan.methods["LDA"].learner is not None

    def test_two_steps_are_refused(self, rounds):
        with pytest.raises(UsageError, match="'ground-truth' predicts nothing, so leave out '-> knn'"):
            rounds("MINE = variance -> knn")

    def test_a_dataset_without_known_relevant_features_is_refused(self, rounds, tmp_path):
        (tmp_path / "mine.csv").write_text("a,b\n1,x\n2,y\n")
        with pytest.raises(DataError, match=r"--add-data .*has no known relevant features"):
            rounds(data=[f"file:{tmp_path}/mine.csv"])
