"""What this plugin offers. Importing it loads no numerical library; factories are imported on first use."""

from __future__ import annotations

from mfbench import ClassifierSpec, SelectorSpec, hookimpl


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return three univariate filters and a random control."""
    return [
        SelectorSpec(
            name="variance",
            summary="Variance of each range-scaled feature",
            factory="mfbench_baselines.filters:VarianceFilter",
            tags=("baseline", "filter", "unsupervised"),
        ),
        SelectorSpec(
            name="anova-f",
            summary="F statistic between the classes, feature by feature",
            factory="mfbench_baselines.filters:AnovaFFilter",
            paper="R. A. Fisher, Statistical Methods for Research Workers, Oliver and Boyd, 1925",
            tags=("baseline", "filter"),
        ),
        SelectorSpec(
            name="mutual-info",
            summary="Mutual information with the class, feature by feature",
            factory="mfbench_baselines.filters:MutualInfoFilter",
            paper="R. Battiti, Using mutual information for selecting features in supervised neural net learning, "
            "IEEE Transactions on Neural Networks 5(4), 1994; estimator: B. C. Ross, Mutual information between "
            "discrete and continuous data sets, PLoS ONE 9(2), 2014",
            grid={"n_neighbors": (3, 5, 10)},
            tags=("baseline", "filter"),
        ),
        SelectorSpec(
            name="columns",
            summary="A stretch of columns, told and not learned",
            factory="mfbench_baselines.columns:FixedColumns",
            tags=("baseline", "control"),
        ),
        SelectorSpec(
            name="random",
            summary="Random importances, the control to beat",
            factory="mfbench_baselines.filters:RandomFilter",
            tags=("baseline", "control"),
        ),
    ]


@hookimpl
def mfbench_classifiers() -> list[ClassifierSpec]:
    """Return the usual classifiers, single-threaded; a grid has at most 12 points."""
    return [
        ClassifierSpec(
            name="knn",
            summary="k nearest neighbours, majority vote",
            factory="sklearn.neighbors:KNeighborsClassifier",
            paper="T. Cover, P. Hart, Nearest neighbor pattern classification, IEEE Transactions on Information "
            "Theory 13(1), 1967",
            defaults={"n_jobs": 1},
            grid={"n_neighbors": (1, 3, 5, 9, 15)},
            tags=("baseline", "neighbours"),
        ),
        ClassifierSpec(
            name="svm-rbf",
            summary="Support vector machine, Gaussian kernel",
            factory="sklearn.svm:SVC",
            paper="B. E. Boser, I. M. Guyon, V. N. Vapnik, A training algorithm for optimal margin classifiers, "
            "COLT 1992",
            defaults={"kernel": "rbf"},
            grid={"C": (0.1, 1.0, 10.0, 100.0), "gamma": ("scale", 0.01, 0.1)},
            tags=("baseline", "svm"),
        ),
        ClassifierSpec(
            name="svm-sigmoid",
            summary="Support vector machine, sigmoid (tanh) kernel",
            factory="sklearn.svm:SVC",
            paper="H.-T. Lin, C.-J. Lin, A study on sigmoid kernels for SVM and the training of non-PSD kernels by "
            "SMO-type methods, technical report, National Taiwan University, 2003",
            defaults={"kernel": "sigmoid"},
            grid={"C": (0.1, 1.0, 10.0), "gamma": ("scale", 0.01), "coef0": (0.0, -1.0)},
            tags=("baseline", "svm"),
        ),
        # The primal Newton solver of LinearSVC, for speed: on 5000 x 40 noisy standardised samples it takes 0.02 s
        # for any C, where SVC(kernel="linear") takes 2 s at C = 1 and 11 s at C = 10. It uses the squared hinge loss.
        ClassifierSpec(
            name="svm-linear",
            summary="Support vector machine, linear, squared hinge loss, one against the rest",
            factory="sklearn.svm:LinearSVC",
            paper="C. Cortes, V. Vapnik, Support-vector networks, Machine Learning 20(3), 1995",
            defaults={"dual": False, "max_iter": 10000},
            grid={"C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)},
            tags=("baseline", "svm", "linear"),
        ),
        ClassifierSpec(
            name="lasso",
            summary="Logistic regression with an L1 penalty, one against the rest",
            factory="mfbench_baselines.classifiers:LassoClassifier",
            paper="R. Tibshirani, Regression shrinkage and selection via the lasso, Journal of the Royal Statistical "
            "Society B 58(1), 1996",
            grid={"C": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)},
            tags=("baseline", "linear", "embedded"),
        ),
        ClassifierSpec(
            name="decision-tree",
            summary="Classification tree (CART)",
            factory="sklearn.tree:DecisionTreeClassifier",
            paper="L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression Trees, "
            "Wadsworth, 1984",
            grid={"max_depth": (3, 6, None), "min_samples_leaf": (1, 5), "ccp_alpha": (0.0, 0.01)},
            tags=("baseline", "tree"),
        ),
        ClassifierSpec(
            name="naive-bayes",
            summary="Gaussian naive Bayes",
            factory="sklearn.naive_bayes:GaussianNB",
            paper="R. O. Duda, P. E. Hart, Pattern Classification and Scene Analysis, Wiley, 1973",
            grid={"var_smoothing": (1e-9, 1e-6, 1e-3, 1e-2, 1e-1)},
            tags=("baseline", "bayes"),
        ),
        # Untuned, the default solver (svd) copes with more features than samples; only lsqr and eigen can shrink.
        ClassifierSpec(
            name="nearest-centroid",
            summary="The class whose mean is nearest",
            factory="sklearn.neighbors:NearestCentroid",
            paper="R. Tibshirani et al., Diagnosis of multiple cancer types by shrunken centroids of gene expression, "
            "PNAS 99(10), 2002 (there shrunken)",
            tags=("baseline", "linear"),
        ),
        ClassifierSpec(
            name="lda",
            summary="Linear discriminant analysis",
            factory="sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
            paper="R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7(2), 1936",
            grid={"solver": ("lsqr",), "shrinkage": (None, "auto", 0.1, 0.5)},
            tags=("baseline", "linear"),
        ),
        ClassifierSpec(
            name="adaboost",
            summary="Boosted decision stumps (AdaBoost, SAMME)",
            factory="sklearn.ensemble:AdaBoostClassifier",
            paper="Y. Freund, R. E. Schapire, A decision-theoretic generalization of on-line learning and an "
            "application to boosting, Journal of Computer and System Sciences 55(1), 1997",
            defaults={"n_estimators": 100},
            grid={"n_estimators": (50, 200), "learning_rate": (0.1, 0.5, 1.0)},
            tags=("baseline", "ensemble", "tree"),
        ),
        ClassifierSpec(
            name="random-forest",
            summary="Random forest of 100 trees",
            factory="sklearn.ensemble:RandomForestClassifier",
            paper="L. Breiman, Random forests, Machine Learning 45(1), 2001",
            defaults={"n_estimators": 100, "n_jobs": 1},
            grid={"max_features": ("sqrt", 0.33, 0.67), "min_samples_leaf": (1, 5)},
            tags=("baseline", "ensemble", "tree"),
        ),
        ClassifierSpec(
            name="xgboost",
            summary="Gradient-boosted trees (XGBoost)",
            factory="mfbench_baselines.classifiers:XGBoostClassifier",
            paper="T. Chen, C. Guestrin, XGBoost: A scalable tree boosting system, KDD 2016",
            defaults={"n_jobs": 1},
            grid={"max_depth": (2, 4, 6), "learning_rate": (0.05, 0.1, 0.3)},
            tags=("baseline", "ensemble", "tree"),
        ),
        ClassifierSpec(
            name="logistic-interactions",
            summary="Logistic regression with all pairwise products, and their p-values; at most 30 features",
            factory="mfbench_baselines.interactions:LogisticInteractions",
            paper="D. R. Cox, The regression analysis of binary sequences, Journal of the Royal Statistical Society B "
            "20(2), 1958; as a baseline for interactions: R. Zhao, P. Hong, J. S. Liu, IMMIGRATE: a margin-based "
            "feature selection method with interaction terms, Entropy 22(3):291, 2020, section 4.1",
            tags=("baseline", "linear", "interactions"),
        ),
        ClassifierSpec(
            name="dummy",
            summary="Always the most frequent class, the control to beat",
            factory="sklearn.dummy:DummyClassifier",
            defaults={"strategy": "most_frequent"},
            tags=("baseline", "control"),
        ),
    ]
