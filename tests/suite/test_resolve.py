"""Looking up methods: those of other profiles are left out, and a profile may thin the grids."""

import pytest

from mfbench.errors import SuiteError
from mfbench.suite.loading import load_suite
from mfbench.suite.resolve import resolve_methods

SUITE = """
[suite]
name = "own"
profile = "full"
[profiles.quick]
grid_values = {count}
[[datasets]]
use = ["blobs"]
[[datasets]]
use = ["other-blobs"]
profiles = {datasets}
[[methods]]
label = "A"
classifier = "nearest"
[[methods]]
label = "B"
classifier = "nearest"
tune = {{ k = [1, 3, 5, 7, 9] }}
profiles = {methods}
"""


def loaded(tmp_path, registry, profile, datasets='["full"]', methods='["quick", "full"]', count=3):
    path = tmp_path / "own.toml"
    path.write_text(SUITE.format(datasets=datasets, methods=methods, count=count), encoding="utf-8")
    return load_suite(str(path), registry, profile)


def names(found):
    return [group.use[0] for group in found.suite.datasets], [method.label for method in found.suite.methods]


def test_parts_of_other_profiles_are_left_out(tmp_path, toy_registry):
    assert names(loaded(tmp_path, toy_registry, "full")) == (["blobs", "other-blobs"], ["A", "B"])
    assert names(loaded(tmp_path, toy_registry, "quick")) == (["blobs"], ["A", "B"])
    assert names(loaded(tmp_path, toy_registry, "standard")) == (["blobs"], ["A"])


def test_unknown_profile_is_told_with_its_place(tmp_path, toy_registry):
    with pytest.raises(SuiteError, match=r"methods\[1\].profiles: unknown profile 'quikc'.*did you mean 'quick'"):
        loaded(tmp_path, toy_registry, "quick", methods='["quikc"]')


def test_a_label_may_name_another_method_in_another_profile(suite_file, toy_registry):
    methods = "".join(
        f'[[methods]]\nlabel = "A"\nclassifier = "{classifier}"\nprofiles = ["{profile}"]\n'
        for profile, classifier in {"quick": "plain", "full": "nearest"}.items()
    )
    for profile, classifier in {"quick": "plain", "full": "nearest"}.items():
        resolved = resolve_methods(load_suite(suite_file(methods=methods), toy_registry, profile), toy_registry)[0]
        assert {label: method.describe() for label, method in resolved.items()} == {"A": classifier}


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ('classifier = "plain"\nweights = "euclidean"', "'weights' needs a selector"),
        ('selector = "weigh"\nclassifier = "plain"\ntop = "all-weighted"\nweights = "euclidean"', "already weights"),
        (
            'selector = "weigh"\nclassifier = "plain"\nweights = "euclidean"\ntune = { top = [1, "all-weighted"] }',
            "already weights",
        ),
    ],
)
def test_weights_are_set_once_and_come_from_a_selector(suite_file, toy_registry, lines, sentence):
    loaded = load_suite(suite_file(methods=f'[[methods]]\nlabel = "A"\n{lines}'), toy_registry)
    with pytest.raises(SuiteError, match=rf"own.toml: methods\[0\].weights: .*{sentence}"):
        resolve_methods(loaded, toy_registry)


def test_a_profile_thins_grids(tmp_path, toy_registry):
    def grid(profile, count=3):
        methods, _ = resolve_methods(loaded(tmp_path, toy_registry, profile, count=count), toy_registry)
        return methods["B"].grid[0][2]

    assert grid("full") == (1, 3, 5, 7, 9)
    assert grid("quick") == (1, 5, 9)
    assert grid("quick", 1) == (1,)
