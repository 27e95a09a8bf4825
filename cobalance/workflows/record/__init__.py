"""Bias records: leans of a dataset with all counts, for machines and for people."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
