"""One module per group of commands; `app.cli.main` puts them together."""
