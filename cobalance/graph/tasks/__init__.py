"""Tasks: long work on the job queue that makes no images, such as training a model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
