"""Concepts and classes: labels, vocabularies, renaming, plurals, wording."""
