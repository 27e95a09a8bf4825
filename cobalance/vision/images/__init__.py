"""Image files: finding and decoding them within limits, their masks and regions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
