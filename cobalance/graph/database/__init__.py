"""The Neo4j database: connection, declared schema, migrations and batched writes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
