"""Demonstrations: data, pictures drawn by rule, and whole runs on them."""
