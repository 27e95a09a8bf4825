"""Plans: generation queries from imbalances, budgets, and simulated effects."""
