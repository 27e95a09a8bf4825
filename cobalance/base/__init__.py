"""The ground that every room stands on: errors, options, records, registries, progress, names."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
