"""Tiny saved pipelines, shared with the tests of backends."""

from tests.generation.backends.conftest import copied, one_thread, pipelines

__all__ = ["copied", "one_thread", "pipelines"]
