"""The page Cypher: saved queries as forms and a read-only console."""
