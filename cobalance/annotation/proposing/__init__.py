"""Attributes of a domain as a language model proposes them (GELDA, section 3.1)."""
