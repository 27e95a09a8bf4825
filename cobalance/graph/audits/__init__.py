"""Audits: labels of annotation runs that people check, and their answers."""
