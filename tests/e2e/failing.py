"""A backend that fails as the test asks for; registered under the name of a real one."""

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import numpy as np

from generation.backends.backend import BackendSettings
from generation.image_request import GeneratedImage
from graph.errors import OutOfMemoryError
from graph.plugins import Plugin

PLUGIN = Plugin("procedural", "Fails.", "worker", BackendSettings)

POISON: set[str] = set()
"""Concepts that it cannot draw."""
CAPACITY = [1_000]
"""The largest batch that its memory takes."""
SEEN: list[int] = []
"""The batches that it was asked for."""
BEFORE: list[Callable[[], object]] = []
"""Called before a batch is made."""
OPEN: WeakSet[Any] = WeakSet()
"""Those that were opened and are still held."""


class _Backend:
    needs_source = False

    def generate(self, requests: Any) -> list[GeneratedImage]:
        SEEN.append(len(requests))
        for call in BEFORE:
            call()
        if len(requests) > CAPACITY[0]:
            raise OutOfMemoryError("The device is out of memory.")
        for request in requests:
            if POISON & set(request.concepts) and request.id.endswith("1"):
                raise ValueError(f"no way to draw {request.id}")
        return [
            GeneratedImage(
                np.random.default_rng(r.seed).integers(0, 255, (16, 16, 3), dtype=np.uint8)
            )
            for r in requests
        ]

    def describe(self) -> dict[str, Any]:
        return {"backend": "failing", "digital_source_type": "test"}


def open_backend(_settings: Any) -> _Backend:
    opened = _Backend()
    OPEN.add(opened)
    return opened
