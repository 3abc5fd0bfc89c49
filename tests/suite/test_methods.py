"""A resolved method describes itself in one line."""

from mfbench.host.expressions import parse
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.schema import Range, Search

WEIGH, NEAREST = Step(parse("weigh"), "selector"), Step(parse("nearest(k=1)"), "classifier")
DRAWN = (
    ("classifier", "C", Range(first=0.001, last=1000.0, spacing="log")),
    ("classifier", "k", Range(first=1, last=9)),
    ("classifier", "p", (1, 2)),
)


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
        (
            ResolvedMethod("A", None, NEAREST, "all", DRAWN, search=Search(kind="random", n=30)),
            "nearest(k=1) [random search, 30 of C log-uniform 0.001 to 1000; k uniform 1 to 9; p 1, 2]",
        ),
        (
            ResolvedMethod("A", None, NEAREST, "all", DRAWN[2:], search=Search(kind="halving")),
            "nearest(k=1) [successive halving by 3 of p 1, 2]",
        ),
    ]:
        assert method.describe() == line
