"""The concept graph: counting, statistics, and its store in Neo4j."""

PUBLIC = (
    "annotations",
    "console",
    "database",
    "database.local.server_control",
    "database.migrations",
    "database.statements",
    "database.sync",
    "dataset",
    "evaluations",
    "jobs",
    "panels",
    "queries",
    "tags",
    "tasks",
)
"""Modules that other rooms may import; a test compares them with the imports."""
