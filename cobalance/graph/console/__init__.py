"""The read-only Cypher console: tokenizer, guard and limits."""
