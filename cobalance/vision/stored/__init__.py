"""Files beside the graph: one a dataset that is read by image id, and workers' output folder."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
