"""Annotation runs, the attributes that they propose, and what accepted ones find in images."""
