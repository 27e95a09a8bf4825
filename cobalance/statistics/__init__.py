"""Statistics of imbalances as pure functions: effect sizes, tests, tables and comparisons."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
