"""Commands, one module per group; `app.cli.main` registers them."""
