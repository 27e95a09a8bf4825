"""The two implementations behind `graph.cliques.mine_cliques`, which chooses one.

`expansion` is NumPy alone. `projection` prepares the data for compiled functions and shares the
work among threads; below it are `tree` (the search), `rows`, `pairs` and `bitmaps` (ways to hold
and count a node of it), `search` (question and answer) and `compiled` (how to compile). These carry
no type annotations: numba infers the types, and compiles each function for those it meets.
"""
