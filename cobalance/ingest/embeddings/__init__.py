"""Embeddings of images beside the graph: read, kept, compared and projected."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
