"""The executor "dask": runs trials on the workers of a Dask cluster."""
