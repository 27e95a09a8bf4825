"""Read queries: the catalogue of named Cypher, and the tables that pages and commands show."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
