"""The executor "dask": trials run on the workers of a Dask cluster."""
