"""The data model: specs, datasets, trials and results, report sections. It loads no numeric library."""
