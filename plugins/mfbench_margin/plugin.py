"""What this plugin offers to mfbench."""

from __future__ import annotations

from mfbench import SelectorSpec, hookimpl


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return the margin-based feature selectors."""
    return [
        SelectorSpec(
            name="relief",
            summary="Relief: difference to the nearest miss minus difference to the nearest hit",
            factory="mfbench_margin.relief:Relief",
            paper=(
                "K. Kira, L. A. Rendell: The feature selection problem: traditional methods and a new algorithm. "
                "AAAI 1992, 129-134"
            ),
            grid={"diff": ["abs", "sq"], "metric": ["euclidean", "manhattan"]},
            tags=("margin", "filter"),
            warm_up=True,
        ),
        SelectorSpec(
            name="relieff",
            summary="ReliefF: k nearest hits and misses per class, categories and missing values as they are",
            factory="mfbench_margin.relieff:ReliefF",
            paper=(
                "I. Kononenko: Estimating attributes: analysis and extensions of RELIEF. ECML 1994, 171-182; "
                "M. Robnik-Sikonja, I. Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. "
                "Machine Learning 53:23-69, 2003"
            ),
            grid={"n_neighbors": [1, 3, 5, 10, 30]},
            tags=("margin", "filter"),
            warm_up=True,
            raw_input=True,
        ),
    ]
