"""The built-in protocols as tests use them."""

from toy_metrics import REGISTRY

from mfbench.run.store.metadata import RecordedProtocol
from mfbench.suite.protocols import make_protocol
from mfbench.suite.schema import ProtocolSettings

SPECS = {name: entry.spec for name, entry in REGISTRY.listed("protocol").items()}


def completed(profile=None, **settings):
    """Complete settings of a protocol."""
    protocol = ProtocolSettings(**settings)
    return protocol.completed(SPECS[protocol.kind], profile, ["accuracy", "balanced_accuracy"])


def design_of(settings, seed=0):
    """What a run records of the protocol with these complete settings."""
    spec = SPECS[settings.kind]
    return RecordedProtocol.of(make_protocol(spec, settings.model_dump(), seed), spec)


def recorded(settings, **others):
    """The fields of a run's metadata that follow from complete settings of its protocol."""
    design = design_of(settings)
    scores = {} if design.predicts else {"scores": SPECS[settings.kind].own_scores}
    return {"protocol": settings, "design": design, **scores, **others}
