"""Masks: pictures that are drawn of images, and the names of their values."""
