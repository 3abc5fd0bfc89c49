"""Fingerprints: the same where the same is installed, and a clause that names each difference."""

from dataclasses import replace

from mfbench.host.expressions import Plugin
from mfbench.run.store.metadata import Source, differences, fingerprint_of, sources_of

OWN = Source(Plugin("p", "no_such_plugin", "my-package", "1.0"), "no_such_plugin.selector")


def test_this_process_does_not_differ_from_itself(prepared):
    plan, _, registry = prepared
    fingerprint = fingerprint_of(sources_of(plan, registry))
    assert len(fingerprint.code) > 1
    assert differences(fingerprint, fingerprint_of(fingerprint.code)) == []


def test_a_plugin_that_differs_is_named(subtests):
    for theirs, here, clause in [
        ({"distribution my-package": "1.1"}, {"distribution my-package": "1.0"}, "my-package 1.0 instead of 1.1"),
        ({"distribution my-package": "1.1"}, {}, "plugin my-package is not installed"),
        ({"plugin p": "a"}, {"plugin p": "b"}, "p with other code"),
        (
            {"plugin p": "a", "requirement six": "2"},
            {"plugin p": "a", "requirement six": "1"},
            "six 1 instead of 2",
        ),
    ]:
        with subtests.test(theirs=theirs, here=here, clause=clause):
            base = fingerprint_of(())
            assert differences(replace(base, code={OWN: theirs}), replace(base, code={OWN: here})) == [clause]


def test_a_plugin_that_is_not_here_has_no_code():
    assert fingerprint_of([OWN]).code == {OWN: {}}


def test_a_module_that_is_not_here_has_no_code():
    loose = Source(Plugin("no_such_plugin", "no_such_plugin"), "no_such_plugin")
    assert fingerprint_of([loose]).code == {loose: {}}


def test_other_code_of_mfbench_counts_even_if_the_version_is_the_same():
    base = fingerprint_of(())
    assert differences(base, replace(base, host="other")) == [f"mfbench {base.version} with other code"]
