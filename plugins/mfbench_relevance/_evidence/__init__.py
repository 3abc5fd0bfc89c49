"""Evidence maximisation, the solver behind RFVM: one precision per feature, everything through the kernel."""
