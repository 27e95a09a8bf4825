"""Panels: people judge a blind sample, labels of a run (audit) or edited images (study)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
