"""Pixels without a model: cutting out, fitting, pasting and painting by rule."""
