"""Widgets without a dataset: messages, tables, downloads, tasks, login, colours, wording."""
