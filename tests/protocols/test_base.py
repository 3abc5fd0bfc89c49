"""What every protocol promises: splits are a function of its keys, and no row that is tested was fitted on."""

import inspect

import numpy as np
import pytest
from toy_protocols import SPECS

from mfbench.suite.loading import COMMON
from mfbench.suite.protocols import make_protocol

Y = np.repeat([0, 1, 2], [40, 25, 10])


class TestEveryProtocol:
    """What all of them promise, whatever they are."""

    @pytest.fixture(params=[(kind, form) for kind in SPECS for form in ("sound", "published")], ids=" ".join)
    def protocol(self, request):
        kind, form = request.param
        return make_protocol(SPECS[kind], {"kind": kind, **SPECS[kind].values(form)}, 7)

    def test_it_is_registered_under_its_name_and_takes_the_keys_of_the_schema(self, protocol):
        cls = type(protocol)
        assert SPECS[protocol.kind].protocol == f"{cls.__module__}:{cls.__name__}"
        parameters = set(inspect.signature(cls).parameters)
        assert parameters == {"seed", *SPECS[protocol.kind].keys} - {"selection", "splitter", *COMMON}

    def test_splits_are_a_function_of_seed_dataset_and_repeat_alone(self, protocol):
        again = type(protocol)(
            **{name: getattr(protocol, name) for name in inspect.signature(type(protocol)).parameters}
        )
        np.random.seed(1)  # noqa: NPY002 - the global state must not matter
        one, other = protocol.splits("d", Y, 1), again.splits("d", Y, 1)
        assert len(one) == len(other) == protocol.folds
        assert all(same_rows(a, b) for a, b in zip(one, other, strict=True))
        if not SPECS[protocol.kind].predicts:
            return  # every row trains; what differs are the data
        for changed in (protocol.splits("e", Y, 1), protocol.splits("d", Y, 0)):
            assert not all(same_rows(a, b) for a, b in zip(one, changed, strict=True))

    def test_no_row_is_tested_that_is_fitted_on_or_chosen_by(self, protocol):
        for split in protocol.splits("d", Y, 0):
            parts = [split.train, split.test]
            if split.tuning is not None:
                learn, validation = split.tuning
                assert not set(learn) & set(validation)
                assert not set(validation) & set(split.test)
                assert set(learn) <= set(split.train)
                parts = [*parts, *split.tuning]
            for rows in parts:
                assert len(rows) == len(set(rows.tolist()))
                assert set(rows.tolist()) <= set(range(len(Y)))
            assert not set(split.train) & set(split.test)

    def test_it_says_what_it_is(self, protocol):
        assert protocol.describe()
        assert protocol.describe_tuning()
        assert protocol.identity.startswith(f"{protocol.kind}:")
        assert protocol.test_train_ratio >= 0


def same_rows(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
