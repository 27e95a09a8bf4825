"""Scores of attributes in images, and the labels that follow from them (GELDA, section 3.2)."""
