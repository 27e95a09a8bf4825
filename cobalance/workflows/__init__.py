"""What people do with a dataset: load, diagnose, plan, order, merge, label, evaluate, export."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
