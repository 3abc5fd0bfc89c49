"""The solver of SQP-FW, in the order in which the modules build on each other.

`problem` prepares data · `state` holds what changes · `basis`, `deadlines`, `ratio_test`, `copies` keep it current ·
`quadratic_program`, `descent` are Algorithm 1 · `ranking`, `hidden_ties` start and restart it · `breakpoints`,
`path_record` are Algorithm 2 · `solution` is a result in the numbers of the caller · `solver` composes them.
"""
