"""Shared by all commands: options, ids, tables, progress bars."""
