"""How features are compared: values in bins, mutual information of all pairs, and views of the data for each kernel."""
