"""Paragraphs that several docstrings share."""

SHARED_PARAMETERS = """\
kernel : {"mutual-information", "linear", "rbf", "polynomial"} or callable, default="mutual-information"
        How two features, or a feature and the response, are compared; see
        `mfbench_relevance.kernels.feature_kernel`. A callable is given two arrays of standardised columns as rows.
    target : {"auto", "numbers", "classes"}, default="auto"
        What y is; "auto" takes whole numbers, booleans and text as classes, other numbers as numbers. A numeric kernel
        with more than two classes solves one problem per class, against the rest; a feature then has the weight of
        largest absolute value.
    bins, target_bins : int or None, default=None
        Bins of a feature and of a numeric response. None: 16 and 4 for "calibrated"; log2 of the number of features,
        rounded, at least 2, for "paper".
    binning : {"frequency", "width"} or None, default=None
        Bins of equal frequency (None for "calibrated") or of equal width (None for "paper").
    gamma : float or None, default=None
        Of the kernels "rbf" and "polynomial"; None is 1 / n_samples.
    degree : int, default=3
        Of "polynomial".
    coef0 : float, default=1.0
        Of "polynomial".
    quantile : float, default=0.99
        Quantile of the null that a feature has to exceed where the null sets the threshold.
    n_permutations : int, default=20
        Permutations of y that the null is made of."""

KERNEL_PARAMETERS = (
    SHARED_PARAMETERS
    + """
    bias : {"none", "miller-madow", "null"} or None, default=None
        Correction of the kernel for the bias of finite samples; None is "none" for "paper" and for the linear kernel,
        "null" otherwise.
    repair : {"clip", "raise", "ignore"}, default="clip"
        What to do with an indefinite kernel: negative eigenvalues become 0, with a warning; an error; nothing."""
)

KERNEL_ATTRIBUTES = """weights_ : ndarray of shape (n_features,)
        Weights; a negative one tells of redundancy, or, with a numeric kernel, of negative dependence.
    feature_importances_ : ndarray of shape (n_features,)
        Their absolute values.
    support_ : ndarray of bool, shape (n_features,)
        Which features are selected: those of a weight other than 0.
    relevance_ : ndarray of shape (n_features,), or (n_classes, n_features)
        Kernel of features and response, corrected and repaired.
    settings_ : dict
        What was used: the preset's settings, and what was given in their place.
    smallest_eigenvalue_ : float or None
        Smallest eigenvalue of the kernel of features and response before its repair; None if it was not indefinite."""

RAISES = """ValueError
        If X or y holds NaN or infinity, y is of no known kind, or the kernel is indefinite and ``repair="raise"``.

    Warns
    -----
    RuntimeWarning
        If the kernel is indefinite, or the response constant (nothing is selected then)."""


def described(cls: type) -> type:
    """Fill the shared paragraphs into a class's docstring, where it says ``{kernel_parameters}`` and the like."""
    if cls.__doc__ is not None:
        cls.__doc__ = (
            cls.__doc__.replace("{kernel_parameters}", KERNEL_PARAMETERS)
            .replace("{shared_parameters}", SHARED_PARAMETERS)
            .replace("{kernel_attributes}", KERNEL_ATTRIBUTES)
            .replace("{raises}", RAISES)
        )
    return cls
