"""What people do with a dataset: load, diagnose, plan, order, merge, label, evaluate, export."""
