"""Audits: people check a sample of labels, and counts are corrected by its errors."""
