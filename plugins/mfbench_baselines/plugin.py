"""The methods of this plugin. Importing this module loads no numeric library; factories are imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from mfbench import ClassifierSpec, SelectorSpec, hookimpl
from mfbench_baselines import optional

_Spec = TypeVar("_Spec", ClassifierSpec, SelectorSpec)

LASSO = (
    "R. Tibshirani, Regression shrinkage and selection via the lasso, Journal of the Royal Statistical Society B "
    "58(1), 1996"
)
DRAWS = "each tree draws as many rows as there are, so a row of weight 2 is not drawn like two rows"
GREEDY = "features are chosen one after the other, and the copy of a chosen one adds nothing"
INTERCEPT = "to the linear model a constant is a second intercept with a coefficient of its own"
BOTH = {"classification": {}, "regression": {"target": "numbers"}}
JITTER = "scikit-learn adds noise against ties, so the estimate for a constant is not exactly zero"
RANDOM = "its weights are random"
SOLVER = "scikit-learn declares it: liblinear and libsvm stop elsewhere if a row of weight 2 replaces two rows"
XGBOOST = "T. Chen, C. Guestrin, XGBoost: A scalable tree boosting system, KDD 2016"


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return univariate filters, tree ensembles, stepwise and sparse selectors, and two controls."""
    return [
        SelectorSpec(
            name="variance",
            summary="Variance: spread of each range-scaled feature",
            factory="mfbench_baselines.filters:VarianceFilter",
            tasks=(),
            tags=("baseline", "filter", "unsupervised"),
            complexity="2.5e-4 + 2.5e-7 * n + 6.4e-10 * n * p**1.5",
            invariance="affine",
        ),
        SelectorSpec(
            name="anova-f",
            summary="F-test: F statistic between the classes, or of a linear regression, feature by feature",
            factory="mfbench_baselines.filters:AnovaFFilter",
            paper="R. A. Fisher, Statistical Methods for Research Workers, Oliver and Boyd, 1925",
            tasks=BOTH,
            tags=("baseline", "filter"),
            complexity="6.1e-4 + 4.3e-7 * n + 1.2e-9 * n * p**1.5",
            invariance="affine",
        ),
        SelectorSpec(
            name="mutual-info",
            summary="Mutual information: dependence of the target on each feature by itself",
            factory="mfbench_baselines.filters:MutualInfoFilter",
            paper="R. Battiti, Using mutual information for selecting features in supervised neural net learning, "
            "IEEE Transactions on Neural Networks 5(4), 1994; estimator: B. C. Ross, Mutual information between "
            "discrete and continuous data sets, PLoS ONE 9(2), 2014",
            grid={"n_neighbors": (3, 5, 10)},
            targets="numbers",
            tasks=BOTH,
            tags=("baseline", "filter"),
            complexity="2.7e-3 + 1.2e-3 * p + 1e-6 * n * p * k",
            invariance="affine",
            expected_failures={"constant-column": JITTER},
        ),
        SelectorSpec(
            name="columns",
            summary="Fixed columns: a range of them; nothing is learned",
            factory="mfbench_baselines.filters:FixedColumns",
            tasks=(),
            tags=("baseline", "control"),
            complexity="4.7e-5 + 1.2e-7 * p + 4.2e-5 * k",
            invariance="monotone",
        ),
        SelectorSpec(
            name="random-forest",
            summary="Random forest: mean decrease in impurity over its trees",
            factory="mfbench_baselines.ensembles:RandomForestSelector",
            paper="L. Breiman, Random forests, Machine Learning 45(1), 2001",
            grid={"max_features": ("sqrt", 0.33), "min_samples_leaf": (1, 5)},
            targets="numbers",
            tasks=BOTH,
            tags=("baseline", "ensemble", "tree"),
            complexity="3.2e-1 + 2.4e-4 * n + 1.9e-6 * n**1.5 * p**0.5",
            check_parameters={"n_estimators": 10},
            invariance="monotone",
        ),
        SelectorSpec(
            name="xgboost",
            summary="XGBoost: mean gain of the splits in gradient-boosted trees",
            factory="mfbench_baselines.ensembles:XGBoostSelector",
            paper=XGBOOST,
            grid={"max_depth": (2, 3, 6), "n_estimators": (30, 100)},
            targets="numbers",
            tasks=BOTH,
            tags=("baseline", "ensemble", "tree"),
            complexity="8.4e-7 * n * p + 2.5e-2 * k",
            check_parameters={"n_estimators": 5},
            invariance="monotone",
            expected_failures={"equal-columns": GREEDY},
        ),
        SelectorSpec(
            name="xgboost-shap",
            summary="XGBoost (SHAP): mean absolute Shapley value in gradient-boosted trees",
            factory="mfbench_baselines.ensembles:XGBoostSelector",
            defaults={"importance": "shap"},
            paper="S. M. Lundberg et al., From local explanations to global understanding with explainable AI for "
            f"trees, Nature Machine Intelligence 2, 2020; {XGBOOST}",
            grid={"max_depth": (2, 3, 6), "n_estimators": (30, 100)},
            targets="numbers",
            tasks=BOTH,
            tags=("baseline", "ensemble", "tree"),
            complexity="5e-6 * n * p + 1e-4 * n + 2e-2 * k",
            check_parameters={"n_estimators": 5},
            invariance="monotone",
            expected_failures={"equal-columns": GREEDY},
        ),
        SelectorSpec(
            name="lasso-cv",
            summary="Lasso: linear regression with an L1 penalty chosen by 10-fold cross-validation",
            factory="mfbench_baselines.lasso:LassoSelector",
            paper=LASSO,
            targets="numbers",
            tasks=BOTH,
            tags=("baseline", "embedded", "linear"),
            complexity="1.8e-1 + 3.6e-6 * n * p + 1.2e-9 * n**2 * p + 2.6e-1 * k",
            check_parameters={"cv": 2},
        ),
        SelectorSpec(
            name="elastic-net-cv",
            summary="Elastic net: linear regression, penalty chosen by 10-fold cross-validation; half of it is L1",
            factory="mfbench_baselines.lasso:LassoSelector",
            defaults={"l1_ratio": 0.5},
            paper="H. Zou, T. Hastie, Regularization and variable selection via the elastic net, Journal of the Royal "
            "Statistical Society B 67(2), 2005",
            grid={"l1_ratio": (0.2, 0.5, 0.8)},
            targets="numbers",
            tasks=BOTH,
            tags=("baseline", "embedded", "linear"),
            complexity="1.8e-1 + 3.6e-6 * n * p + 1.2e-9 * n**2 * p + 2.6e-1 * k",
            check_parameters={"cv": 2},
        ),
        SelectorSpec(
            name="lasso-path",
            summary="Lasso path: order in which features enter the path of L1-penalised logistic regression",
            factory="mfbench_baselines.elastic_net:LassoPath",
            paper=f"{LASSO}; J. Friedman, T. Hastie, R. Tibshirani, Regularization paths for generalized linear models "
            "via coordinate descent, Journal of Statistical Software 33(1), 2010",
            tags=("baseline", "embedded", "linear"),
            complexity="1.2e-10 * n**2 * p + 3.1e-10 * n * p**2 + 9.8e-3 * k + 2.4e-6 * n * k",
            check_parameters={"n_penalties": 10},
        ),
        SelectorSpec(
            name="rfe",
            summary="RFE: recursive elimination with a linear support vector machine, for numbers ridge regression",
            factory="mfbench_baselines.stepwise:RecursiveElimination",
            paper="I. Guyon, J. Weston, S. Barnhill, V. Vapnik, Gene selection for cancer classification using support "
            "vector machines, Machine Learning 46, 2002",
            grid={"C": (0.01, 0.1, 1.0, 10.0)},
            tasks=BOTH,
            tags=("baseline", "wrapper", "svm"),
            complexity="1.1e-2 + 8.3e-5 * p + 3.4e-7 * n * p * k",
            expected_failures={"constant-column": INTERCEPT, "equal-columns": GREEDY},
        ),
        SelectorSpec(
            name="sequential-forward",
            summary="Forward selection: by the cross-validated accuracy of nearest neighbours; at most 10 features",
            factory="mfbench_baselines.stepwise:SequentialForward",
            paper="A. W. Whitney, A direct method of nonparametric measurement selection, IEEE Transactions on "
            "Computers C-20(9), 1971",
            grid={"n_neighbors": (1, 3, 5)},
            tags=("baseline", "wrapper"),
            warm_up=True,
            complexity="2.6e-5 * n + 7.2e-9 * n**2 * p",
            check_parameters={"n_ranked": 2, "cv": 2},
            expected_failures={"equal-columns": GREEDY},
        ),
        SelectorSpec(
            name="mrmr",
            summary="mRMR: minimum redundancy, maximum relevance; selects 50 features",
            factory="mfbench_baselines.stepwise:MRMR",
            paper="H. Peng, F. Long, C. Ding, Feature selection based on mutual information: criteria of "
            "max-dependency, max-relevance, and min-redundancy, IEEE TPAMI 27(8), 2005",
            grid={"scheme": ("difference", "quotient")},
            tasks=BOTH,
            tags=("baseline", "filter", "multivariate"),
            complexity="1.2e-3 + 3.6e-6 * p + 1e-7 * n * p",
            invariance="affine",
            expected_failures={"equal-columns": GREEDY},
        ),
        SelectorSpec(
            name="boruta",
            summary="Boruta: features that a random forest finds more important than shuffled copies",
            factory="mfbench_baselines.boruta:Boruta",
            paper="M. B. Kursa, W. R. Rudnicki, Feature selection with the Boruta package, Journal of Statistical "
            "Software 36(11), 2010",
            tasks=BOTH,
            tags=("baseline", "wrapper", "ensemble", "tree"),
            complexity="2e-1 + 4e-5 * n * p**0.5 * log(n)",
            controls=("fwer", "alpha", "marginal"),
            check_parameters={"max_iter": 2, "n_estimators": 3},
            invariance="monotone",
        ),
        SelectorSpec(
            name="rank-ensemble",
            summary="Rank ensemble: mean rank by F test, mutual information and forest on 10 samples of the rows",
            factory="mfbench_baselines.aggregation:RankEnsemble",
            paper="Y. Saeys, T. Abeel, Y. Van de Peer, Robust feature selection using ensemble feature selection "
            "techniques, ECML PKDD 2008",
            grid={"aggregation": ("mean", "median")},
            targets="numbers",
            tasks=BOTH,
            tags=("baseline", "ensemble"),
            complexity="2 + 4e-4 * n * p**0.5 + 2e-2 * p",
            check_parameters={"n_samples": 2},
        ),
        *optional.selectors(),
        SelectorSpec(
            name="random",
            summary="Random features: random importances, the control to beat",
            factory="mfbench_baselines.filters:RandomFilter",
            tasks=(),
            tags=("baseline", "control"),
            complexity="3.2e-4",
            invariance="monotone",
            expected_failures={"constant-column": RANDOM},
        ),
        *_both(
            SelectorSpec,
            lasso={"complexity": "4.3e-8 * n * p + 1.9e-3 * k + 2.4e-7 * n * k"},
            elastic_net={"complexity": "9.8e-4 + 2.5e-7 * n * p * k"},
            soda={"expected_failures": {"equal-columns": GREEDY}},
            hiernet={"invariance": "affine"},
        ),
    ]


@hookimpl
def mfbench_classifiers() -> list[ClassifierSpec]:
    """Return the usual classifiers, all single-threaded and with grids of at most 12 points."""
    return [
        ClassifierSpec(
            name="knn",
            summary="k-NN: k nearest neighbours, majority vote",
            factory="sklearn.neighbors:KNeighborsClassifier",
            paper="T. Cover, P. Hart, Nearest neighbor pattern classification, IEEE Transactions on Information "
            "Theory 13(1), 1967",
            defaults={"n_jobs": 1},
            grid={"n_neighbors": (1, 3, 5, 9, 15)},
            tags=("baseline", "neighbours"),
            complexity="1.7e-3 + 7.9e-10 * n**2",
        ),
        ClassifierSpec(
            name="svm-rbf",
            summary="SVM (RBF): support vector machine, Gaussian kernel",
            factory="sklearn.svm:SVC",
            paper="B. E. Boser, I. M. Guyon, V. N. Vapnik, A training algorithm for optimal margin classifiers, "
            "COLT 1992",
            defaults={"kernel": "rbf"},
            grid={"C": (0.1, 1.0, 10.0, 100.0), "gamma": ("scale", 0.01, 0.1)},
            tags=("baseline", "svm"),
            complexity="1.2e-3 + 7.4e-6 * n + 4.9e-10 * n**2 * p",
            expected_failures={
                "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
                "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
            },
        ),
        ClassifierSpec(
            name="svm-sigmoid",
            summary="SVM (sigmoid): support vector machine, sigmoid (tanh) kernel",
            factory="sklearn.svm:SVC",
            paper="H.-T. Lin, C.-J. Lin, A study on sigmoid kernels for SVM and the training of non-PSD kernels by "
            "SMO-type methods, technical report, National Taiwan University, 2003",
            defaults={"kernel": "sigmoid"},
            grid={"C": (0.1, 1.0, 10.0), "gamma": ("scale", 0.01), "coef0": (0.0, -1.0)},
            tags=("baseline", "svm"),
            complexity="1.4e-3 + 5.5e-7 * n**1.5",
            expected_failures={
                "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
                "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
            },
        ),
        # LinearSVC's primal Newton solver, for speed: on 5000 noisy standardised samples of 40 features it takes 0.02 s
        # for any C; SVC(kernel="linear") takes 2 s at C = 1 and 11 s at C = 10. It minimises the squared hinge loss.
        ClassifierSpec(
            name="svm-linear",
            summary="SVM (linear): support vector machine, squared hinge loss, one against the rest",
            factory="mfbench_baselines.classifiers:LinearSVM",
            paper="C. Cortes, V. Vapnik, Support-vector networks, Machine Learning 20(3), 1995",
            defaults={"dual": False, "max_iter": 10000},
            grid={"C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)},
            tags=("baseline", "svm", "linear"),
            complexity="2e-3 + 5.5e-8 * n * p",
            expected_failures={
                "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
                "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
            },
        ),
        ClassifierSpec(
            name="decision-tree",
            summary="Decision tree: classification tree (CART)",
            factory="sklearn.tree:DecisionTreeClassifier",
            paper="L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression Trees, "
            "Wadsworth, 1984",
            grid={"max_depth": (3, 6, None), "min_samples_leaf": (1, 5), "ccp_alpha": (0.0, 0.01)},
            tags=("baseline", "tree"),
            complexity="1.3e-3 + 9e-9 * n**1.5 * p",
        ),
        ClassifierSpec(
            name="naive-bayes",
            summary="Naive Bayes: Gaussian features, independent in each class",
            factory="sklearn.naive_bayes:GaussianNB",
            paper="R. O. Duda, P. E. Hart, Pattern Classification and Scene Analysis, Wiley, 1973",
            grid={"var_smoothing": (1e-9, 1e-6, 1e-3, 1e-2, 1e-1)},
            tags=("baseline", "bayes"),
            complexity="1.2e-3 + 2.3e-8 * n * p",
        ),
        ClassifierSpec(
            name="nearest-centroid",
            summary="Nearest centroid: the class whose mean is nearest",
            factory="sklearn.neighbors:NearestCentroid",
            paper="R. Tibshirani et al., Diagnosis of multiple cancer types by shrunken centroids of gene expression, "
            "PNAS 99(10), 2002 (there shrunken)",
            tags=("baseline", "linear"),
            complexity="2.3e-3 + 9.6e-8 * n**1.5 + 3e-12 * p**3",
        ),
        # The default solver (svd) handles more features than samples, but only lsqr and eigen support shrinkage.
        ClassifierSpec(
            name="lda",
            summary="LDA: linear discriminant analysis",
            factory="sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
            paper="R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7(2), 1936",
            grid={"solver": ("lsqr",), "shrinkage": (None, "auto", 0.1, 0.5)},
            tags=("baseline", "linear"),
            complexity="1.8e-11 * n**2 * p + 1.4e-9 * n * p**2 + 7.4e-4 * k",
        ),
        ClassifierSpec(
            name="adaboost",
            summary="AdaBoost: boosted decision stumps (SAMME)",
            factory="sklearn.ensemble:AdaBoostClassifier",
            paper="Y. Freund, R. E. Schapire, A decision-theoretic generalization of on-line learning and an "
            "application to boosting, Journal of Computer and System Sciences 55(1), 1997",
            defaults={"n_estimators": 100},
            grid={"n_estimators": (50, 200), "learning_rate": (0.1, 0.5, 1.0)},
            tags=("baseline", "ensemble", "tree"),
            complexity="2.5e-4 * n + 2.8e-3 * p",
            check_parameters={"n_estimators": 5},
        ),
        ClassifierSpec(
            name="random-forest",
            summary="Random forest: 100 trees",
            factory="sklearn.ensemble:RandomForestClassifier",
            paper="L. Breiman, Random forests, Machine Learning 45(1), 2001",
            defaults={"n_estimators": 100, "n_jobs": 1},
            grid={"max_features": ("sqrt", 0.33, 0.67), "min_samples_leaf": (1, 5)},
            tags=("baseline", "ensemble", "tree"),
            complexity="9.6e-2 + 1.4e-7 * n**1.5 * p",
            check_parameters={"n_estimators": 10},
            expected_failures={
                "scikit-learn:check_sample_weight_equivalence_on_dense_data": DRAWS,
                "scikit-learn:check_sample_weight_equivalence_on_sparse_data": DRAWS,
            },
        ),
        ClassifierSpec(
            name="extra-trees",
            summary="Extra trees: 100 trees with random cuts",
            factory="sklearn.ensemble:ExtraTreesClassifier",
            paper="P. Geurts, D. Ernst, L. Wehenkel, Extremely randomized trees, Machine Learning 63(1), 2006",
            defaults={"n_estimators": 100, "n_jobs": 1},
            grid={"max_features": ("sqrt", 0.33, 0.67), "min_samples_leaf": (1, 5)},
            tags=("baseline", "ensemble", "tree"),
            complexity="1.8e-1 + 3e-5 * n + 2e-8 * n**1.5 * p",
            check_parameters={"n_estimators": 10},
        ),
        ClassifierSpec(
            name="hist-boosting",
            summary="Histogram boosting: scikit-learn's gradient-boosted trees on 256 bins",
            factory="sklearn.ensemble:HistGradientBoostingClassifier",
            paper="G. Ke et al., LightGBM: A highly efficient gradient boosting decision tree, NIPS 30, 2017",
            grid={"max_leaf_nodes": (7, 15, 31), "learning_rate": (0.05, 0.1, 0.3)},
            tags=("baseline", "ensemble", "tree"),
            complexity="1e-1 * k + 3e-6 * n * p",
            check_parameters={"max_iter": 5},
        ),
        ClassifierSpec(
            name="logistic-regression",
            summary="Logistic regression: with an L2 penalty",
            factory="sklearn.linear_model:LogisticRegression",
            paper="S. le Cessie, J. C. van Houwelingen, Ridge estimators in logistic regression, Applied Statistics "
            "41(1), 1992",
            defaults={"max_iter": 1000},
            grid={"C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)},
            tags=("baseline", "linear"),
            complexity="3e-3 + 1e-7 * n * p",
        ),
        ClassifierSpec(
            name="mlp",
            summary="Neural network: one hidden layer of 100 units",
            factory="sklearn.neural_network:MLPClassifier",
            paper="D. E. Rumelhart, G. E. Hinton, R. J. Williams, Learning representations by back-propagating errors, "
            "Nature 323, 1986",
            defaults={"max_iter": 500},
            grid={"alpha": (1e-4, 1e-2, 1.0), "hidden_layer_sizes": ((30,), (100,))},
            tags=("baseline", "network"),
            complexity="1e-1 + 1e-3 * n + 1e-6 * n * p",
            check_parameters={"max_iter": 60},
        ),
        ClassifierSpec(
            name="gaussian-process",
            summary="Gaussian process: Gaussian kernel, its width by the marginal likelihood",
            factory="sklearn.gaussian_process:GaussianProcessClassifier",
            paper="C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, MIT Press, 2006",
            tags=("baseline", "bayes"),
            complexity="5e-3 + 1e-7 * n**2 + 3e-10 * n**3",
        ),
        *optional.classifiers(),
        ClassifierSpec(
            name="xgboost",
            summary="XGBoost: gradient-boosted trees",
            factory="mfbench_baselines.classifiers:XGBoostClassifier",
            paper=XGBOOST,
            defaults={"n_jobs": 1},
            grid={"max_depth": (2, 4, 6), "learning_rate": (0.05, 0.1, 0.3)},
            tags=("baseline", "ensemble", "tree"),
            complexity="1.1e-2 + 2.5e-7 * n**1.5 * p**0.5 + 2.2e-8 * p**3",
            check_parameters={"n_estimators": 5},
        ),
        ClassifierSpec(
            name="xgboost-interactions",
            summary="XGBoost with pairs: the gain of each pair of features",
            factory="mfbench_baselines.classifiers:XGBoostPairs",
            paper=f"{XGBOOST}; pairs: S. Karbowiak, P. Biecek, EIX: Explain interactions in XGBoost, R package, 2018",
            defaults={"n_jobs": 1},
            grid={"max_depth": (2, 4, 6), "learning_rate": (0.05, 0.1, 0.3)},
            tags=("baseline", "ensemble", "tree", "interactions"),
            complexity="8.1e-7 * n * p + 2.5e-2 * k + 2.1e-5 * n * k",
            check_parameters={"n_estimators": 10},
        ),
        ClassifierSpec(
            name="lmnn",
            summary="LMNN: large margin nearest neighbour, 3 neighbours in the learned metric",
            factory="mfbench_baselines.metric:LMNN",
            paper="K. Q. Weinberger, L. K. Saul, Distance metric learning for large margin nearest neighbor "
            "classification, Journal of Machine Learning Research 10, 2009",
            grid={"n_neighbors": (1, 3, 5), "push": (0.3, 0.5, 0.7)},
            tags=("baseline", "neighbours", "metric"),
            warm_up=True,
            complexity="2.5e-3 * p + 1.6e-6 * n**1.5 * p**0.5 + 3.5e-6 * p**3",
            check_parameters={"max_iter": 20},
        ),
        ClassifierSpec(
            name="nca",
            summary="NCA: neighbourhood components analysis, nearest neighbour in the learned metric",
            factory="mfbench_baselines.metric:NCA",
            paper="J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, Neighbourhood components analysis, NIPS 17, "
            "2004",
            grid={"n_neighbors": (1, 3, 5)},
            tags=("baseline", "neighbours", "metric"),
            complexity="3.2e-7 * n**2 * p",
        ),
        ClassifierSpec(
            name="rbf-network",
            summary="RBF network: radial basis functions, k-means centres in each class, logistic output",
            factory="mfbench_baselines.rbf:RBFNetwork",
            paper="J. Moody, C. J. Darken, Fast learning in networks of locally-tuned processing units, Neural "
            "Computation 1(2), 1989",
            grid={"n_centers": (1, 2, 5, 10)},
            tags=("baseline", "network"),
            complexity="9.4e-3 + 1.2e-11 * n**2 * p**2",
        ),
        ClassifierSpec(
            name="logistic-interactions",
            summary="Logistic regression with pairs: all pairwise products, and their p-values; at most 30 features",
            factory="mfbench_baselines.interactions:LogisticInteractions",
            paper="D. R. Cox, The regression analysis of binary sequences, Journal of the Royal Statistical Society B "
            "20(2), 1958; as a baseline for interactions: R. Zhao, P. Hong, J. S. Liu, IMMIGRATE: a margin-based "
            "feature selection method with interaction terms, Entropy 22(3):291, 2020, section 4.1",
            tags=("baseline", "linear", "interactions"),
            complexity="3.6e-8 * n * p**2 + 1.1e-3 * k",
        ),
        ClassifierSpec(
            name="dummy",
            summary="Constant guess: always the most frequent class, the control to beat",
            factory="sklearn.dummy:DummyClassifier",
            defaults={"strategy": "most_frequent"},
            tags=("baseline", "control"),
            complexity="5.3e-4",
        ),
        *_both(
            ClassifierSpec,
            lasso={"complexity": "1.1e-7 * n * p + 1.6e-3 * k"},
            elastic_net={"complexity": "3.3e-5 * p + 1.4e-7 * n * p + 1e-3 * k"},
        ),
    ]


def _both(kind: type[_Spec], **own: Mapping[str, Any]) -> list[_Spec]:
    """Return the specifications of the sparse methods, which are both selectors and classifiers.

    Some have fields of their own as one or the other.
    """
    return [
        kind(
            name="lasso",
            summary="Lasso: logistic regression with an L1 penalty, one against the rest",
            factory="mfbench_baselines.classifiers:LassoClassifier",
            paper=LASSO,
            grid={"C": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)},
            tags=("baseline", "linear", "embedded"),
            **own["lasso"],
        ),
        kind(
            name="elastic-net",
            summary="Elastic net: logistic regression with an L1 and an L2 penalty, one against the rest",
            factory="mfbench_baselines.elastic_net:ElasticNet",
            paper="H. Zou, T. Hastie, Regularization and variable selection via the elastic net, Journal of the Royal "
            "Statistical Society B 67(2), 2005",
            grid={"C": (0.01, 0.1, 1.0, 10.0), "l1_ratio": (0.2, 0.5, 0.8)},
            tags=("baseline", "linear", "embedded"),
            **own["elastic_net"],
        ),
        kind(
            name="soda",
            summary="SODA: features, squares and products by stepwise likelihood",
            factory="mfbench_baselines.soda:SODA",
            paper="Y. Li, J. S. Liu, Robust variable and interaction selection for logistic regression and general "
            "index models, Journal of the American Statistical Association 114(525), 2019",
            grid={"gamma": (0.0, 0.5, 1.0)},
            tags=("baseline", "linear", "embedded", "interactions"),
            warm_up=True,
            complexity="1.3e-6 * n * p + 5e-3 * k",
            **own.get("soda", {}),
        ),
        kind(
            name="hiernet",
            summary="HierNet: lasso with hierarchical interactions, one against the rest",
            factory="mfbench_baselines.hiernet:HierNet",
            paper="J. Bien, J. Taylor, R. Tibshirani, A lasso for hierarchical interactions, Annals of Statistics "
            "41(3), 2013",
            grid={"relative_penalty": (0.5, 0.2, 0.1, 0.05, 0.02)},
            tags=("baseline", "linear", "embedded", "interactions"),
            warm_up=True,
            complexity="1e-4 * n * k + 7e-6 * n * p * k",
            check_parameters={"relative_penalty": 0.2},
            **own.get("hiernet", {}),
        ),
    ]
