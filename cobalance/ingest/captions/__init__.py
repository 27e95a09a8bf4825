"""Captions of images: how they are stored beside the graph, read from files, and edited."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
