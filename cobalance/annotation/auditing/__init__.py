"""Audits: people check a sample of labels, and counts are corrected by its errors."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
