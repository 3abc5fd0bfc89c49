"""Splitters and protocols with one mistake each, a plugin. `MISTAKES` names the one check that must find each."""

import numpy as np

from mfbench import EvaluationProtocol, ProtocolSpec, Split, SplitterSpec, hookimpl

_calls = []


def folds_of(rows, folds):
    return [(np.setdiff1d(np.arange(len(rows)), test), test) for test in np.array_split(rows, folds)]


class Right:
    def split(self, y, by, folds, seed):
        return folds_of(np.random.default_rng(seed).permutation(len(y)), folds)


class Fixed:
    def split(self, y, by, folds, seed):
        return folds_of(np.arange(len(y)), folds)


class Unnamed:
    pass


class Unpickled(Right):
    def __init__(self):
        self.key = lambda: 0


class Raising:
    def split(self, y, by, folds, seed):
        return y.maen()


class Overlapping(Right):
    def split(self, y, by, folds, seed):
        return [(np.arange(len(y)), test) for _, test in super().split(y, by, folds, seed)]


class Outside(Right):
    def split(self, y, by, folds, seed):
        return [(train + 1, test[:1]) for train, test in super().split(y, by, folds, seed)]


class Unseeded:
    def split(self, y, by, folds, seed):
        _calls.append(None)
        return folds_of(np.random.default_rng(len(_calls)).permutation(len(y)), folds)


class Protocol(EvaluationProtocol):
    def __init__(self, seed, gap=1, **others):
        super().__init__(seed)
        self.gap, self.kind = gap, type(self).__name__.lower()
        self.folds, self.repeats = 2, 2

    def splits(self, dataset, y, repeat, structure=None):
        rows = np.random.default_rng(self._seed(dataset, repeat)).permutation(len(y))
        return [Split(train, test[self.gap :]) for train, test in folds_of(rows, 2)]

    @property
    def test_train_ratio(self):
        return 1.0

    def describe(self):
        return f"two halves with a gap of {self.gap}"


class Silent(Protocol):
    def describe(self):
        return ""


class Misnamed(Protocol):
    def __init__(self, seed, gap):
        super().__init__(seed, gap)
        self.kind = "halves"


class Keyless(Protocol):
    def __init__(self, seed):
        super().__init__(seed)


class Objects(Protocol):
    pass


class Strange(Protocol):
    pass


class Three(Protocol):
    def __init__(self, seed, gap):
        super().__init__(seed, gap)
        self.folds = 3


class Both(Protocol):
    def splits(self, dataset, y, repeat, structure=None):
        return [Split(np.arange(len(y)), split.test) for split in super().splits(dataset, y, repeat)]


class Tuned(Protocol):
    def splits(self, dataset, y, repeat, structure=None):
        splits = super().splits(dataset, y, repeat)
        return [Split(split.train, split.test, (split.train, split.test)) for split in splits]


class Drifting(Protocol):
    def splits(self, dataset, y, repeat, structure=None):
        _calls.append(None)
        return super().splits(dataset, y, len(_calls))


# (factory, check, fields of the spec)
SPLITTERS = [
    ("nowhere", "splitter-made", {"factory": "unsound_splits:nowhere"}),
    ("Unnamed", "splitter-made", {}),
    ("Unpickled", "splitter-made", {}),
    ("Raising", "splitter-rows", {}),
    ("Overlapping", "splitter-rows", {}),
    ("Outside", "splitter-rows", {}),
    ("right-groups", "splitter-structure", {"factory": Right, "needs": "groups"}),
    ("right-time", "splitter-structure", {"factory": Right, "needs": "time"}),
    ("Unseeded", "splitter-seed", {}),
    ("fixed-random", "splitter-seed", {"factory": Fixed}),
    ("right-fixed", "splitter-seed", {"factory": Right, "is_random": False}),
    ("no-summary", "spec", {"factory": Right, "summary": ""}),
]
PROTOCOLS = [
    ("Silent", "protocol-made", {}),
    ("Misnamed", "protocol-made", {}),
    ("Keyless", "protocol-made", {}),
    ("Objects", "protocol-made", {"keys": {"gap": np.float64}}),
    ("Strange", "protocol-made", {"profiles": {"quick": {"gapp": 2}}}),
    ("Three", "protocol-splits", {}),
    ("Both", "protocol-splits", {}),
    ("Tuned", "protocol-splits", {}),
    ("Drifting", "protocol-seed", {}),
    ("Protocol", "spec", {"summary": ""}),
]
MISTAKES = {("splitter", name.lower()): check for name, check, _ in SPLITTERS}
MISTAKES |= {("protocol", name.lower()): check for name, check, _ in PROTOCOLS}


@hookimpl
def mfbench_splitters():
    for name, _, fields in SPLITTERS:
        yield SplitterSpec(**{"name": name.lower(), "summary": name, "factory": globals().get(name), **fields})
    yield SplitterSpec(name="right", summary="Right", factory=Right)
    yield SplitterSpec(name="fixed", summary="Right", factory=Fixed, is_random=False)


@hookimpl
def mfbench_protocols():
    for name, _, fields in PROTOCOLS:
        keys = {"keys": {"gap": 1}} | fields
        yield ProtocolSpec(**{"name": name.lower(), "summary": name, "protocol": globals()[name], **keys})
