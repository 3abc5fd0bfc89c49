"""Several runs of one suite → one."""
