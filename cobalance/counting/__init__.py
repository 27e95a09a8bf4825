"""Exact counting of concept cliques: incidence matrix, co-occurrence, joint counts per class."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
