"""The selectors of this plugin. Importing this module loads no numeric library; factories are imported on first use."""

from __future__ import annotations

from mfbench import SelectorSpec, hookimpl

_BOTH = {"classification": {}, "regression": {"target": "numbers"}}
_LASSO = "coordinate descent gives two equal columns different coefficients"
_FOLDS = "a copy of a row may be in another fold"
_TESTS = {
    "f-test-fdr": (
        "fdr",
        "F-test (FDR): Benjamini and Hochberg's bound on false discoveries, 5 %",
        "Y. Benjamini, Y. Hochberg, Controlling the false discovery rate: a practical and powerful approach to "
        "multiple testing, Journal of the Royal Statistical Society B 57(1), 1995",
    ),
    "f-test-fwer": (
        "fwer",
        "F-test (FWER): Holm's bound on any false selection, 5 %",
        "S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6(2), "
        "1979",
    ),
    "f-test-fpr": (
        "fpr",
        "F-test (FPR): features that are significant one by one, 5 %",
        "R. A. Fisher, Statistical Methods for Research Workers, Oliver and Boyd, 1925",
    ),
}


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return the selectors with a stated rate of errors, and importances with intervals."""
    return [
        SelectorSpec(
            name="knockoffs",
            summary="Knockoffs: features that beat Gaussian copies in a lasso; false discovery rate 10 %",
            factory="mfbench_controlled.knockoffs:Knockoffs",
            paper="E. Candès, Y. Fan, L. Janson, J. Lv, Panning for gold: model-X knockoffs for high dimensional "
            "controlled variable selection, Journal of the Royal Statistical Society B 80(3), 2018",
            grid={"q": (0.05, 0.1, 0.2)},
            targets="numbers",
            tasks=_BOTH,
            tags=("controlled", "embedded", "linear"),
            complexity="1e-1 + 2e-6 * n * p + 1e-9 * n * p**2 + 4e-8 * p**3",
            controls=("fdr", "q"),
            check_parameters={"construction": "equicorrelated"},
        ),
        SelectorSpec(
            name="stability-selection",
            summary="Stability selection: first on the lasso path of most halves; at most one false selection expected",
            factory="mfbench_controlled.stability:StabilitySelection",
            paper="N. Meinshausen, P. Bühlmann, Stability selection, Journal of the Royal Statistical Society B 72(4), "
            "2010; R. D. Shah, R. J. Samworth, Variable selection with error control: another look at stability "
            "selection, Journal of the Royal Statistical Society B 75(1), 2013",
            grid={"threshold": (0.6, 0.75, 0.9)},
            targets="numbers",
            tasks=_BOTH,
            tags=("controlled", "embedded", "linear"),
            complexity="3e-1 + 5e-6 * n * p + 6e-8 * n * p**2",
            controls=("pfer", "false_selections"),
            check_parameters={"n_pairs": 5},
            expected_failures={"equal-columns": _LASSO},
        ),
        *(
            SelectorSpec(
                name=name,
                summary=summary,
                factory="mfbench_controlled.corrected:CorrectedTests",
                defaults={"rate": rate},
                paper=paper,
                grid={"level": (0.01, 0.05, 0.2)},
                tasks=_BOTH,
                tags=("controlled", "filter", "linear"),
                complexity="2e-3 + 3e-8 * n * p",
                controls=(rate, "level", "marginal"),
                invariance="affine",
            )
            for name, (rate, summary, paper) in _TESTS.items()
        ),
        SelectorSpec(
            name="conditional-randomisation",
            summary="Conditional randomisation: features that beat random ones, given all others; FDR 5 %",
            factory="mfbench_controlled.randomisation:ConditionalRandomisation",
            paper="M. Liu, E. Katsevich, L. Janson, A. Ramdas, Fast and powerful conditional randomization testing via "
            "distillation, Biometrika 109(2), 2022",
            grid={"level": (0.01, 0.05, 0.2)},
            targets="numbers",
            tasks=_BOTH,
            tags=("controlled", "embedded", "linear"),
            complexity="1e-1 + 3e-6 * n * p + 1e-9 * n * p**2",
            controls=("fdr", "level"),
        ),
        SelectorSpec(
            name="permuted-target",
            summary="Permuted target: features more important to a forest than any where y is in random order; 5 %",
            factory="mfbench_controlled.randomisation:PermutedTarget",
            paper="P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing, Wiley, 1993; A. Altmann, L. Toloşi, "
            "O. Sander, T. Lengauer, Permutation importance: a corrected feature importance measure, Bioinformatics "
            "26(10), 2010",
            targets="numbers",
            tasks=_BOTH,
            tags=("controlled", "wrapper", "ensemble", "tree"),
            complexity="8 + 2e-3 * n * p**0.5",
            controls=("fwer", "level", "marginal"),
            check_parameters={"n_estimators": 20, "n_permutations": 4, "level": 0.2},
        ),
        SelectorSpec(
            name="permutation-importance",
            summary="Permutation importance: held-out loss of a forest with a feature in random order, less its error",
            factory="mfbench_controlled.held_out:HeldOutImportance",
            paper="L. Breiman, Random forests, Machine Learning 45(1), 2001",
            targets="numbers",
            tasks=_BOTH,
            tags=("controlled", "wrapper", "ensemble", "tree"),
            complexity="6e-1 + 1e-2 * p + 2e-4 * n * p",
            check_parameters={"n_estimators": 30, "n_folds": 2, "n_repeats": 2},
        ),
        SelectorSpec(
            name="leave-one-covariate-out",
            summary="Leave one covariate out: held-out loss of a forest without a feature, less its error",
            factory="mfbench_controlled.held_out:HeldOutImportance",
            defaults={"kind": "leave-one-out"},
            paper="J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani, L. Wasserman, Distribution-free predictive "
            "inference for regression, Journal of the American Statistical Association 113(523), 2018",
            targets="numbers",
            tasks=_BOTH,
            tags=("controlled", "wrapper", "ensemble", "tree"),
            complexity="6e-1 + 6e-1 * p + 1e-3 * n * p",
            check_parameters={"n_estimators": 30, "n_folds": 2},
            expected_failures={"duplicates": _FOLDS},
        ),
    ]
