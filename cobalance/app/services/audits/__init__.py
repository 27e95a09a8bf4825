"""Audits of labelling runs: drawn, answered by people, and what they say of imbalances."""
