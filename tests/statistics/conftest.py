"""Cliques counted the slow way, shared with the tests of plans."""

from tests.generation.conftest import count

__all__ = ["count"]
