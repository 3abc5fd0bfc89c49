"""A profile may be asked for by its old name for one more version."""

import warnings

import pytest

from mfbench.errors import SuiteError, UnknownNameError
from mfbench.suite.loading import load_suite
from mfbench.suite.old_names import current_profile

OLD_FILE = {
    "head": '[suite]\nname = "own"\nprofile = "paper"\n[protocol]\nfolds = 3\n[profiles.paper]\nrepeats = 4',
    "datasets": """
[[datasets]]
use = ["blobs"]
profiles = ["quick", "paper"]

[[datasets]]
use = ["blobs(shift=1.0)"]
replicates = { quick = 1, paper = 2 }
""",
}


def test_a_file_with_the_old_name_loads_with_one_warning(suite_file, toy_registry):
    with pytest.warns(FutureWarning, match="own.toml: the profile 'paper' is now called 'full'") as record:
        loaded = load_suite(suite_file(**OLD_FILE), toy_registry)
    assert len(record) == 1
    assert (loaded.profile, loaded.protocol.repeats) == ("full", 4)
    assert loaded.request[-2:] == ("--profile", "full")
    assert [text for group in loaded.suite.datasets for text in group.use] == [
        "blobs",
        "blobs(shift=1.0, seed=0)",
        "blobs(shift=1.0, seed=1)",
    ]


def test_a_command_may_use_the_old_name(suite_file, toy_registry):
    with pytest.warns(FutureWarning, match="^the profile 'paper' is now called 'full'"):
        assert load_suite(suite_file(), toy_registry, "paper").profile == "full"


def test_the_current_name_gives_no_warning(suite_file, toy_registry):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_suite(suite_file(), toy_registry, "full")


@pytest.mark.parametrize("more", ["[profiles.paper]\nrepeats = 1\n[profiles.full]\nrepeats = 2"])
def test_both_names_in_one_place_are_a_mistake(suite_file, toy_registry, more):
    with pytest.raises(SuiteError, match="profiles: 'paper' is the old name of 'full'; remove one"):
        load_suite(suite_file(more), toy_registry)


def test_a_profile_of_the_suite_is_never_an_old_name():
    assert current_profile("published", ["published", "as-published"]) == "published"
    with pytest.warns(FutureWarning, match="'published' is now called 'as-published'"):
        assert current_profile("published", ["as-published"]) == "as-published"


def test_an_old_name_without_a_successor_is_unknown(suite_file, toy_registry):
    with pytest.raises(UnknownNameError, match="unknown profile 'published'"):
        load_suite(suite_file(), toy_registry, "published")
