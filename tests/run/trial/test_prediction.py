"""A trial that predicts: its result has everything."""

import numpy as np
from spies import fold_of, run


def test_a_result_has_everything():
    fold = fold_of()
    result, log = run(fold, metrics=("accuracy", "balanced_accuracy"))
    assert result.key == "key"
    assert result.predictions.dtype == np.int64
    assert result.scores["accuracy"] == np.mean(result.predictions == fold.y_test)
    assert set(result.scores) == {"accuracy", "balanced_accuracy"}
    assert result.duration >= result.select_wall + result.fit_wall + result.predict_wall > 0
    assert result.tune_wall == 0.0
    assert result.chosen == {}
    assert [event.what + event.kind for event in log] == ["fitselector", "fitclassifier", "predictclassifier"]
