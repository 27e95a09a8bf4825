"""Plans of missing images, of edits and of baselines: made, compared, and worded."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
