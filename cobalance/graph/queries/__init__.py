"""Read queries: the catalogue of named Cypher, and the tables that pages and commands show."""
