"""Attributes that models propose and label, and how far their labels can be trusted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
