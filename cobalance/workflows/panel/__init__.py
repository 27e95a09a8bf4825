"""People judge a blind sample: audits of labels, and studies of edited images."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
