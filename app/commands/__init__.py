"""One module per group of commands; `app.cli` puts them together."""
