"""Results that no trial can have are refused, whatever their checksums say."""

import base64
import json
import re

import numpy as np
import pytest
from forgery import forged, labels_by_key, members_of
from forgery import packed_text as packed

from mfbench.errors import UsageError
from mfbench.model.trials import Candidate, Curve, Interactions
from mfbench.run.store.formats import pack_candidates, pack_document
from mfbench_claims.reading import opened_bundles

METRICS = ("accuracy", "balanced_accuracy")
# The fold that is changed tests 16, 17 and 17 rows of the classes; the first class is predicted for all of them.
PREDICTIONS = np.zeros(50, dtype=int)
SCORES = {"accuracy": 16 / 50, "balanced_accuracy": 1 / 3}
AREA = SCORES["accuracy"]


def text_of(content):
    return base64.b64encode(content).decode()


def candidate(**values):
    values = {"chosen": {}, "scores": SCORES, "n_selected": 1, "predictions": PREDICTIONS, **values}
    return {"candidates": text_of(pack_candidates([Candidate(**values)])), "scores": None, "predictions": None}


def curve(**values):
    scores = np.repeat([list(SCORES.values())], 2, axis=0).T
    content = {"sizes": np.array([1, 2]), "metrics": METRICS, "scores": scores, "seconds": np.zeros(2)}
    own = {"scores": json.dumps(SCORES), "predictions": packed(PREDICTIONS)}
    return {"curve": text_of(pack_document(Curve(**{**content, **values}))), **own}


def pairs(**values):
    content = {
        "pairs": np.array([[0, 1]]),
        "values": np.array([0.5]),
        "ranks": np.array([1]),
        "p_values": None,
        "norm": 1.0,
        "n_pairs": 6,
    }
    return {"interactions": text_of(pack_document(Interactions(**{**content, **values})))}


def scores(**values):
    return {"scores": json.dumps({**SCORES, **values})}


def read(small_claim, tmp_path, values):
    labels = labels_by_key(members_of(small_claim))

    def change(rows):
        next(row for row in rows if (labels[row["key"]] == 0).sum() == 16).update(values)

    path = forged(small_claim, tmp_path / "claim.zip", trials=change)
    with opened_bundles([path]):
        pass


POSSIBLE = [
    candidate(),
    candidate(weights=np.ones(4), selected=np.array([2])),
    curve(),
    curve(chosen=({"k": 1}, {"k": 3})),
    pairs(),
    pairs(p_values=np.array([np.nan])),
    curve() | scores(area=AREA),
    {"decisions": packed([0, 1, 0] * 50)},
]
IMPOSSIBLE = [
    (scores(accuracy=0.5), "its score 'accuracy' is 0.5, but its predictions give "),
    ({"predictions": packed([77] * 50)}, "its predictions are not among the 3 classes of its dataset"),
    ({"predictions": packed([1.0] * 50)}, "its predictions are not among the 3 classes"),
    ({"predictions": None}, "it has no predictions, although it is ok"),
    ({"predictions": None, "decisions": packed([0, 1, 0] * 50)}, "its decisions are not those of its test rows"),
    ({"decisions": packed([0, 1, 0])}, "its decisions are not those of its test rows"),
    ({"decisions": packed([0, 1, 2] * 50)}, "its decisions are not zeros and ones"),
    ({"weights": packed([np.nan] * 4)}, "its weights are not finite"),
    ({"selected": packed([1, 1])}, "its selected features have one twice"),
    ({"n_selected": 5}, "its number of selected features is not one of 0 to 4"),
    ({"duration": -1.0}, "duration"),
    (scores(accuracy=float("nan")), "its score 'accuracy' is nan, but its predictions give "),
    (
        scores(balanced_accuracy=0.5) | {"predictions": packed(PREDICTIONS)},
        "its score 'balanced_accuracy' is 0.5, but its predictions give 0.333",
    ),
    (candidate(scores={**SCORES, "accuracy": 1.0}), "its score 'accuracy' is 1, but its predictions give 0.32"),
    (curve(scores=np.full((2, 2), 0.5)), "its score 'accuracy' is 0.5, but its largest size has 0.32"),
    (curve() | scores(area=0.5), "its score 'area' is 0.5, but its curve gives 0.32"),
    ({"chosen": "[1]"}, "its parameters have no names"),
    ({"scores": None}, "it has not all scores that its suite measures"),
    ({"scores": '{"accuracy": 0.5}'}, "it has not all scores that its suite measures"),
    (scores(beauty=0.5), "it has a score that its suite does not measure"),
    (scores(area=0.5), "it has a score that its suite does not measure"),
    (scores(accuracy=5.0), "its score 'accuracy' is not between 0 and 1"),
    (scores(accuracy=True), "its score 'accuracy' is not a number"),
    (candidate(scores={**SCORES, "accuracy": -0.1}), "its score 'accuracy' is not between 0 and 1"),
    (candidate(scores={}), "it has not all scores that its suite measures"),
    (candidate(n_selected="q"), "its number of selected features is not one of"),
    (candidate(fit_wall="x"), "a time of a grid point is not a number of seconds"),
    (candidate(fit_wall=-1.0), "a time of a grid point is not a number of seconds"),
    (candidate(chosen=[1]), "its parameters have no names"),
    (candidate(predictions=None), "a grid point has no predictions"),
    (curve(metrics=("accuracy", "accuracy")), "its curve has not each score of its suite once"),
    (curve(scores=np.full((2, 2), 1.5)), "its score 'accuracy' is not between 0 and 1"),
    (curve(seconds=np.array([0.0, -1.0])), "a time of its curve is not a number of seconds"),
    (curve(chosen=(1, 2)), "its parameters have no names"),
    (curve(chosen=({},)), "its curve does not have parameters for each size"),
    (pairs(norm=[[1], [2, 3]]), "the weights of its pairs of features are not finite"),
    (pairs(norm=float("inf")), "the weights of its pairs of features are not finite"),
    (pairs(values=np.array([np.nan])), "the weights of its pairs of features are not finite"),
    (pairs(values=np.ones(2)), "its pairs of features do not have a weight and a rank each"),
    (pairs(ranks=np.array([7])), "the ranks of its pairs of features are not possible"),
    (pairs(n_pairs="6"), "it has another number of pairs of features than its dataset"),
]


def test_what_a_trial_can_have_is_read(subtests, small_claim, tmp_path):
    for values in POSSIBLE:
        with subtests.test(values=values):
            read(small_claim, tmp_path, values)


@pytest.mark.sampled(8, reason="dozens of forged bundles")
@pytest.mark.parametrize(("values", "expected"), IMPOSSIBLE)
def test_what_no_trial_can_have_is_refused(small_claim, tmp_path, values, expected):
    with pytest.raises(UsageError, match=expected) as caught:
        read(small_claim, tmp_path, values)
    assert re.search(r"is refused as a bundle: row \d+ of its member trials.jsonl[:,] ", str(caught.value))


def test_a_failure_has_no_scores(small_claim, tmp_path):
    with pytest.raises(UsageError, match="it failed, and yet has results"):
        read(small_claim, tmp_path, {"status": "error", "error_type": "ValueError", "predictions": None})
