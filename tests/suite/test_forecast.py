"""What a run is expected to take, from the costs of its trials."""

from types import SimpleNamespace

from mfbench.model.trials import Trial
from mfbench.suite.plan import Cost, Forecast


class TestForecast:
    trials = tuple(Trial(str(i), "d", "m", 0, i, 0) for i in range(4))

    def forecast(self, *amounts, jobs=2, startup=0.0):
        table = dict(enumerate(amounts))
        costs = SimpleNamespace(of=lambda trial: Cost(table[trial.fold], 0))
        return Forecast(costs, jobs, startup)

    def test_trials_share_the_workers(self):
        assert self.forecast(1, 1, 1, 1, startup=3.0).wall(self.trials) == 5.0

    def test_a_run_is_not_shorter_than_its_longest_trial(self):
        assert self.forecast(9, 1, 1, 1).wall(self.trials) == 9.0

    def test_nothing_takes_no_time(self):
        assert self.forecast(startup=3.0).wall([]) == 0.0
