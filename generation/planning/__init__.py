"""Plans: from imbalances to generation queries, budgets, and what a plan changes."""
