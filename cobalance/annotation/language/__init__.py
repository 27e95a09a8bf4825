"""Language models: questions with answers that can be parsed, and a record of all that was said."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
