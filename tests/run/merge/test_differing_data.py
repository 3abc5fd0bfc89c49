"""Data of a bundle that are not those here."""

import shutil

from small_claims import small_run
from tampering import changed

from mfbench.run.merging import differing_data

__all__ = ["small_run"]  # a fixture


def test_only_what_differs_is_named(small_run, tmp_path):
    assert differing_data(small_run, small_run) == {}
    other = tmp_path / "other"
    shutil.copytree(small_run, other)
    with changed(other) as db:
        db.execute("DELETE FROM splits WHERE fold = 1")
    assert differing_data(other, small_run) == differing_data(small_run, other) == {}, "a share has some folds only"
    with changed(other) as db:
        db.execute("UPDATE datasets SET relevant = '[0]', n_samples = 151")
        db.execute("UPDATE splits SET n_train = 99 WHERE fold = 2")
    expected = "the bundle's data of iris are not those here: n_samples, relevant, rows of repeat 0, fold 2"
    assert differing_data(other, small_run) == {"iris": expected}
