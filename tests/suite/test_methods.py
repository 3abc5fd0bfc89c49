"""A resolved method describes itself in one line."""

from mfbench.host.expressions import parse
from mfbench.suite.methods import ResolvedMethod, Step

WEIGH, NEAREST = Step(parse("weigh")), Step(parse("nearest(k=1)"))


def test_description():
    for method, line in [
        (ResolvedMethod("A", None, NEAREST, "all"), "nearest(k=1)"),
        (ResolvedMethod("A", WEIGH, NEAREST, 2), "weigh → top 2 → nearest(k=1)"),
        (ResolvedMethod("A", WEIGH, None, "relevant"), "weigh → top relevant"),
        (
            ResolvedMethod("A", WEIGH, NEAREST, "all", (("top", "top", (1, 2)), ("selector", "power", (1,)))),
            "weigh → nearest(k=1) [tunes top 1, 2; power 1]",
        ),
        (
            ResolvedMethod("A", WEIGH, NEAREST, "all", (("selector", "k", (1,)), ("classifier", "k", (1,)))),
            "weigh → top all → nearest(k=1) [tunes selector.k 1; classifier.k 1]",
        ),
        (
            ResolvedMethod("A", None, NEAREST, "all", (("classifier", "k", (1, 3)),), "per-dataset"),
            "nearest(k=1) [tunes k 1, 3; per dataset]",
        ),
        (
            ResolvedMethod("A", WEIGH, NEAREST, "positive", weights="manhattan"),
            "weigh → top positive, weighted (manhattan) → nearest(k=1)",
        ),
        (
            ResolvedMethod("A", None, NEAREST, "all", (("classifier", "k", tuple(range(100))),)),
            "nearest(k=1) [tunes k 0 … 99 (100 values)]",
        ),
    ]:
        assert method.describe() == line
