"""Attributes of a domain as a language model proposes them (GELDA, section 3.1)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
