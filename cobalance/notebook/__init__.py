"""Python for notebooks: small objects with frames and HTML; `cobalance` itself has every name."""
