"""Evaluations: models trained on a dataset and tested on another, with their scores."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
