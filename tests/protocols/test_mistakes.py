"""Mistakes in a suite with a plugin's protocol, and mistakes of such a protocol, are one sentence."""

import numpy as np
import pytest

from mfbench import EvaluationProtocol, ProtocolSpec, Split, hookimpl
from mfbench.errors import PluginError, SuiteError
from mfbench.host.registry import load_registry
from mfbench.run.store.metadata import RecordedProtocol
from mfbench.suite.loading import load_suite
from mfbench.suite.protocols import checked_splits, make_protocol

Y = np.arange(40) % 2


class Blocks(EvaluationProtocol):
    kind = "blocks"
    repeats = 1

    def __init__(self, seed, folds, gap):
        super().__init__(seed)
        if gap < 0:
            raise ValueError(f"gap is {gap}: use a number from 0")
        self.folds, self.gap = folds, gap

    def splits(self, dataset, y, repeat, structure=None):
        rows = np.arange(len(y))
        tested = np.array_split(rows, self.folds)
        return [Split(rows[(rows < test[0] - self.gap) | (rows > test[-1] + self.gap)], test) for test in tested]

    @property
    def test_train_ratio(self):
        return 1 / (self.folds - 1)

    def describe(self):
        return f"{self.folds} blocks"


def spec_of(protocol=Blocks):
    return ProtocolSpec(name="blocks", summary="Blocks", protocol=protocol, keys={"folds": 4, "gap": 0})


class Plugin:
    @hookimpl
    def mfbench_protocols(self):
        return [spec_of()]


@pytest.fixture
def load(tmp_path):
    registry = load_registry(only=[], extra=[("theirs", Plugin())])

    def load(protocol):
        path = tmp_path / "own.toml"
        path.write_text(
            f'[suite]\nname = "own"\n[protocol]\n{protocol}\n[[datasets]]\nuse = ["iris"]\n'
            '[[methods]]\nlabel = "A"\nclassifier = "knn"\n'
        )
        return load_suite(path, registry)

    return load


def made(protocol=Blocks, **settings):
    return make_protocol(spec_of(protocol), {"folds": 4, "gap": 0} | settings, 0)


def test_its_keys_are_those_of_the_spec(load):
    loaded = load('kind = "blocks"\ngap = 3')
    values = loaded.protocol.model_dump()
    assert (values["folds"], values["gap"]) == (4, 3)
    protocol = make_protocol(loaded.spec, values, 0)
    assert protocol.gap == 3 and len(checked_splits(protocol, "d", Y, 0, None)) == 4
    for text, sentence in [
        ('kind = "blocks"\ngapp = 3', "protocol.gapp: the protocol 'blocks' has no such key: did you mean 'gap'"),
        ('kind = "blocks"\nrepeats = 3', "protocol.repeats: the protocol 'blocks' has no such key; it has folds, gap"),
        ("gap = 3", "protocol.gap: the protocol 'repeated-cv' has no such key"),
        ('kind = "block"', "protocol.kind: unknown protocol 'block': did you mean 'blocks'"),
    ]:
        with pytest.raises(SuiteError, match=sentence) as raised:
            load(text)
        assert "\n" not in str(raised.value)


def raising(**_):
    raise RuntimeError("no licence")


class Abstract(EvaluationProtocol):
    kind = "blocks"


class Unsized(Blocks):
    def __init__(self, **_):
        pass


@pytest.mark.parametrize(
    ("protocol", "settings", "error", "sentence"),
    [
        (Blocks, {"gap": -1}, SuiteError, "cannot be used: gap is -1: use a number from 0"),
        (Blocks, {"gap": "x"}, PluginError, "cannot be made: TypeError"),
        (raising, {}, PluginError, "cannot be made: RuntimeError: no licence"),
        ("nowhere.at_all:Blocks", {}, PluginError, "cannot be made: ModuleNotFoundError"),
        (Abstract, {}, PluginError, "cannot be made: TypeError"),
        (Unsized, {}, PluginError, "it is not an EvaluationProtocol whose folds and repeats are whole numbers"),
        (lambda **_: object(), {}, PluginError, "it is not an EvaluationProtocol"),
    ],
)
def test_what_a_constructor_may_get_wrong(protocol, settings, error, sentence):
    with pytest.raises(
        error, match=f"^the protocol 'blocks' {sentence}|^the protocol 'blocks' cannot be used: {sentence}"
    ):
        made(protocol, **settings)


ROWS = np.arange(len(Y))


@pytest.mark.parametrize(
    ("splits", "sentence"),
    [
        ([Split(ROWS[:20], ROWS[20:])] * 3, "it gives 3 splits, expected 4"),
        ([Split(ROWS[:20], ROWS[19:])] * 4, "fold 1 tests a row that it trains on"),
        ([Split(ROWS[:20], ROWS[20:], (ROWS[:10], ROWS[10:21]))] * 4, "fold 1 tests a row that it trains on"),
        ([Split(ROWS[:0], ROWS[20:])] * 4, "fold 1 has no rows to train on"),
        ([Split(ROWS[:20], ROWS[:0])] * 4, "or none to test"),
        ([Split(ROWS[:20], ROWS[20:] + 1)] * 4, "row numbers that are not from 0 to 39"),
        ([Split(ROWS[:20] * 1.0, ROWS[20:])] * 4, "row numbers that are not"),
        (None, "it raised TypeError"),
        ([1, 2, 3, 4], "it raised AttributeError"),
    ],
)
def test_what_its_splits_may_get_wrong(splits, sentence):
    class Wrong(Blocks):
        def splits(self, *_):
            return splits

    with pytest.raises(PluginError, match=f"the protocol 'blocks' cannot split d: .*{sentence}"):
        checked_splits(made(Wrong), "d", Y, 0, None)


@pytest.mark.parametrize("answer", [None, KeyError("x")])
def test_a_protocol_without_a_description(answer):
    class Silent(Blocks):
        def describe(self):
            if answer is not None:
                raise answer

    with pytest.raises(PluginError, match="the protocol 'blocks' does not describe itself"):
        RecordedProtocol.of(made(Silent), spec_of())
