"""The concept graph: counting, statistics, and its store in Neo4j."""
