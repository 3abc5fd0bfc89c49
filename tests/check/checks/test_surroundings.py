import pytest
from opening import failure, opened


@pytest.mark.parametrize(
    ("name", "check", "seen"),
    [
        ("draws-from-the-global-generator", "global-random-state", "changed: the global random state of NumPy"),
        (
            "restores-the-global-generator",
            "global-random-state",
            "other seeds of random and np.random give another result",
        ),
        ("sets-the-environment", "environment", "changed: os.environ (MEAN_GAP_THREADS)"),
        ("ignores-all-warnings", "warning-filters", "changed: the warning filters"),
        ("limits-threads", "threads", "changed: the number of native threads"),
        ("silences-numpy", "surroundings", "changed: NumPy's handling of errors"),
        ("extends-the-path", "surroundings", "changed: sys.path"),
    ],
)
def test_what_has_changed_is_named(name, check, seen, monkeypatch):
    monkeypatch.setenv("MEAN_GAP_THREADS", "before")
    assert failure(check, opened("broken_determinism", name, "selector")).seen.startswith(seen)


@pytest.mark.parametrize("name", ["depends-on-the-time", "goes-on-with-its-generator"])
def test_a_method_that_never_repeats_itself_is_not_blamed_for_global_generators(name):
    assert failure("global-random-state", opened("broken_determinism", name, "selector")) is None
