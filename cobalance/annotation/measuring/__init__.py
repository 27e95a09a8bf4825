"""Proposed attributes and labels measured against ground truth."""
