"""What runners share: the seed of a fold is the same for all methods, whichever process derives it."""

import pytest
from small_runs import job_of

from mfbench.run.trial.curve import PredictionRunner, TrialRunner


def test_a_runner_makes_folds_and_runs_trials(prepared, tmp_path):
    plan, _, registry = prepared
    job = job_of(plan, tmp_path)
    with pytest.raises(TypeError, match="abstract"):
        TrialRunner(job, registry)
    one, other = PredictionRunner(job, registry), PredictionRunner(job, registry)
    seeds = {(trial.repeat, trial.fold): one.fold_seed(trial) for trial in plan.trials}
    assert len(set(seeds.values())) == len(seeds)
    assert all(other.fold_seed(trial) == seeds[trial.repeat, trial.fold] for trial in reversed(plan.trials))
    fold = one.make_fold(plan.trials[0])
    assert fold.seed == seeds[0, 0]
    assert one.run(plan.trials[0], plan.methods["A"], fold).status == "ok"
