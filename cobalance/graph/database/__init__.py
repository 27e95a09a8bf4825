"""The Neo4j database: connection, declared schema, migrations and batched writes."""
