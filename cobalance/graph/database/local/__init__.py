"""The local Neo4j server: its process, its jars and how to start and stop it."""
