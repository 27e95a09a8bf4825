"""Imbalances as tables and in detail, filters for them, and saved views."""
