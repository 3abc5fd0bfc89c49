"""The form of bundles is complete: what a store has, without tracebacks."""

from mfbench.run.store.checksums import TRIAL_COLUMNS, WHOLE
from mfbench.run.store.formats import LIMITS
from mfbench_claims.form import COLUMNS, FREE_TEXT


def test_every_column_of_a_store_is_in_a_bundle_but_the_traceback():
    trials = tuple(name for name in TRIAL_COLUMNS if name != "error_trace")
    assert {**{table: WHOLE[table] for table in WHOLE if table != "meta"}, "trials": trials} == COLUMNS


def test_private_paths_are_looked_for_in_what_others_write():
    assert set(LIMITS) - {"error_type", "error_trace"} <= set(FREE_TEXT)
