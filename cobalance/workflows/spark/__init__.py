"""Apache Spark: its session, and datasets that stay in Parquet files."""
