"""Readers that turn annotation files of many formats into the one record that the graph loads."""
