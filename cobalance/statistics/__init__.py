"""Statistics of imbalances as pure functions: effect sizes, tests, tables and comparisons."""
