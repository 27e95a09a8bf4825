"""Scores of attributes in images, and the labels that follow from them (GELDA, section 3.2)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
