"""Statistics of imbalances as pure functions: effect sizes, tests, tables and comparisons."""

PUBLIC = (
    "association",
    "centrality",
    "comparison",
    "concepts_alone",
    "contrasts",
    "cooccurrences",
    "design_effects",
    "imbalance",
    "intervals",
    "order",
    "own_effect",
    "q_values",
    "selection",
    "separation",
    "splits",
    "summary",
)
"""Modules that other rooms may import; a test compares them with the imports."""
