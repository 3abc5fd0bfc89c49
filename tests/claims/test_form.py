"""The form of bundles is complete: whatever a store has, and no more."""

from mfbench.run.store.formats.texts import LIMITS
from mfbench.run.store.reading import ARRAYS as STORED_ARRAYS
from mfbench.run.store.seals import TRIAL_COLUMNS, WHOLE
from mfbench_claims.form import ARRAYS, COLUMNS, DOCUMENTS, FREE_TEXT, PLACES


def test_every_column_of_a_store_is_in_a_bundle():
    assert {**{table: WHOLE[table] for table in WHOLE if table != "meta"}, "trials": TRIAL_COLUMNS} == COLUMNS
    assert set(STORED_ARRAYS) < set(ARRAYS) and not set(ARRAYS) & set(DOCUMENTS)
    packed = [COLUMNS[table][place] for table, places in PLACES.items() for place in places]
    assert sorted(packed) == sorted((*ARRAYS, *DOCUMENTS))


def test_whatever_others_write_is_searched_for_private_text():
    assert set(LIMITS) - {"error_type"} <= set(FREE_TEXT)
