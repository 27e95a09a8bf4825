"""Reports of evaluations: tables of scores as CSV, Parquet, LaTeX and HTML."""
