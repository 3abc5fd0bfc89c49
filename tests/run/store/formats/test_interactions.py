"""Stored weights of pairs come back as they were, on their own and inside of a candidate."""

from types import SimpleNamespace

import numpy as np
import pytest

from mfbench.model.trials import Candidate
from mfbench.run.store.formats import pack_candidates, pack_document, unpack_candidates, unpack_interactions
from mfbench.run.trial.steps import read_interactions


@pytest.mark.parametrize("p_values", [None, np.full((4, 4), np.nan)])
def test_what_is_stored_comes_back(p_values):
    weights = np.random.default_rng(0).normal(size=(4, 4))
    estimator = SimpleNamespace(interaction_importances_=weights, interaction_pvalues_=p_values)
    stored = read_interactions(estimator, np.arange(4), 4)
    inside = unpack_candidates(pack_candidates([Candidate(chosen={}, interactions=stored)]))[0].interactions
    for back in (unpack_interactions(pack_document(stored)), inside):
        for name in ("pairs", "values", "ranks", "p_values"):
            np.testing.assert_array_equal(getattr(back, name), getattr(stored, name))
        assert (back.norm, back.n_pairs) == (stored.norm, stored.n_pairs)
