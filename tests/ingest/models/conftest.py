"""Tiny saved pipelines, shared with the tests of backends."""

from tests.generation.backends.conftest import ask, copied, one_thread, pipelines

__all__ = ["ask", "copied", "one_thread", "pipelines"]
