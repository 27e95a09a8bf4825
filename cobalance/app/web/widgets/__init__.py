"""Widgets without a dataset: messages, tables, controls, tasks, login, colours, wording."""
