"""Commands, one module per group; `cobalance.app.cli.main` registers them."""
