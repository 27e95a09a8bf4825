"""Datasets whose images stay in Parquet files, counted out of core here or on Apache Spark."""
