"""Generation jobs in the graph: life cycle, rounds, candidates, progress and the merged result."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
