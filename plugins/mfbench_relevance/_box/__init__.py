"""The box-constrained l1 problem behind FVM and P-SVM: coordinate descent, and the penalty by cross-validation."""
