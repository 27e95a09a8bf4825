"""Audits: people check a sample of labels, and counts are corrected by what they find."""
