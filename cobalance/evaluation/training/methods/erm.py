"""Empirical risk minimisation: every image counts once, the baseline of all others."""

from cobalance.evaluation.training.method import Method, MethodPlugin

PLUGIN = MethodPlugin("erm", "Train on the images as they are.")


open_method = Method
