"""The selectors of this plugin: RFVM and the methods that its paper compares it with."""

from __future__ import annotations

from mfbench import SelectorSpec, hookimpl

_RFVM = (
    "H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine. "
    "MLDM 2007, LNCS 4571:144-159"
)
_BOTH = {"classification": {}, "regression": {"target": "numbers"}}
_THRESHOLD = "a weight is the relevance above a permutation threshold, so that of a constant is minus the threshold"


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return the selectors that work on a kernel between features."""
    return [
        SelectorSpec(
            name="rfvm",
            summary="RFVM: sparse Bayesian feature weights on a mutual-information kernel of features",
            factory="mfbench_relevance.rfvm:RFVM",
            paper=_RFVM,
            grid={"quantile": [0.9, 0.95, 0.99, 0.999]},
            tags=("relevance", "filter", "nonlinear"),
            warm_up=True,
            targets="numbers",
            tasks=_BOTH,
            complexity="4e-3 + 1e-7 * n * p + 4e-10 * n * p**2 + 2.5e-7 * p**2 + 2.5e-10 * p**3",
            controls=("fpr", "1 - quantile", "marginal"),
            invariance="monotone",
        ),
        SelectorSpec(
            name="rvm-linear",
            summary="Linear RVM: RFVM on the linear kernel, with learned noise",
            factory="mfbench_relevance.rfvm:RFVM",
            paper="M. E. Tipping: Sparse Bayesian learning and the relevance vector machine. Journal of Machine "
            f"Learning Research 1:211-244, 2001; as a selector of features: {_RFVM}",
            defaults={"preset": "paper", "kernel": "linear"},
            tags=("relevance", "embedded", "linear"),
            warm_up=True,
            targets="numbers",
            tasks=_BOTH,
            complexity="4e-2 + 1e-4 * p + 1e-7 * n * p + 2e-10 * n * p**2",
            invariance="affine",
        ),
        SelectorSpec(
            name="fvm",
            summary="FVM: the lasso on a mutual-information kernel of features",
            factory="mfbench_relevance.fvm:FVM",
            paper="F. Li, Y. Yang, E. P. Xing: From lasso regression to feature vector machine. NIPS 18, 2005; "
            f"{_RFVM}",
            grid={"one_standard_error": [False, True]},
            path=("one_standard_error", "weights_at"),
            tags=("relevance", "filter", "nonlinear"),
            warm_up=True,
            targets="numbers",
            tasks=_BOTH,
            complexity="5e-2 + 2e-3 * p + 1e-6 * n * p + 5e-9 * n * p**2 + 5e-6 * p**2",
            check_parameters={"n_folds": 3},
            invariance="monotone",
        ),
        SelectorSpec(
            name="psvm",
            summary="P-SVM: FVM with a bound on the weights, which keeps redundant features",
            factory="mfbench_relevance.psvm:PSVM",
            paper="S. Hochreiter, K. Obermayer: Nonlinear feature selection with the potential support vector machine. "
            f"In: Feature extraction, foundations and applications, Springer, 2006; {_RFVM}",
            grid={"one_standard_error": [False, True]},
            path=("one_standard_error", "weights_at"),
            tags=("relevance", "filter", "nonlinear"),
            warm_up=True,
            targets="numbers",
            tasks=_BOTH,
            complexity="5e-2 + 2e-3 * p + 1e-6 * n * p + 5e-9 * n * p**2 + 8e-6 * p**2",
            check_parameters={"tuning": "kernel", "n_folds": 3},
            invariance="monotone",
        ),
        SelectorSpec(
            name="hsic-lasso",
            summary="HSIC lasso: the lasso on kernels between samples, in blocks of 20; ranks 50 features",
            factory="mfbench_relevance.hsic:HSICLasso",
            paper="M. Yamada, W. Jitkrittum, L. Sigal, E. P. Xing, M. Sugiyama: High-dimensional feature selection by "
            "feature-wise kernelized lasso. Neural Computation 26(1):185-207, 2014; blocks: H. Climente-González, "
            "C.-A. Azencott, S. Kaski, M. Yamada: Block HSIC Lasso. Bioinformatics 35(14):i427-i435, 2019",
            tags=("relevance", "embedded", "nonlinear"),
            targets="numbers",
            tasks=_BOTH,
            complexity="5e-3 + 3e-6 * n * p",
            check_parameters={"n_ranked": 10},
        ),
        SelectorSpec(
            name="kernel-ranking",
            summary="Binned mutual information: plain ranking, with a threshold from permuted responses",
            factory="mfbench_relevance.ranking:KernelRanking",
            paper="D. François, F. Rossi, V. Wertz, M. Verleysen: Resampling methods for parameter-free and robust "
            "feature selection with mutual information. Neurocomputing 70(7-9):1276-1288, 2007",
            grid={"quantile": [0.9, 0.95, 0.99, 0.999]},
            path=("quantile", "weights_at"),
            tags=("relevance", "filter", "nonlinear"),
            warm_up=True,
            targets="numbers",
            tasks=_BOTH,
            complexity="1.6e-3 + 9.6e-6 * p + 1.3e-8 * n * p * log(n)",
            controls=("fpr", "1 - quantile", "marginal"),
            invariance="monotone",
            expected_failures={"constant-column": _THRESHOLD},
        ),
    ]
