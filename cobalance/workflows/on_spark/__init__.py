"""Datasets that outgrow one machine, counted and sampled on Apache Spark."""
