"""A backend that fails as the test asks; it takes the place of a real one."""

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import numpy as np

from cobalance.base.errors import OutOfMemoryError
from cobalance.base.plugins import Plugin
from cobalance.generation.backends.procedural import ProceduralOptions
from cobalance.generation.image_request import GeneratedImage

PLUGIN = Plugin("procedural", "Fails.", "worker", ProceduralOptions)

POISON: set[str] = set()
"""Concepts whose images fail."""
CAPACITY = [1_000]
"""The largest batch that fits its memory."""
SEEN: list[int] = []
"""Sizes of the batches so far."""
BEFORE: list[Callable[[], object]] = []
"""Called before each batch."""
OPEN: WeakSet[Any] = WeakSet()
"""The open ones that are still held."""


class FailingBackend:
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


def open_backend(_settings: Any) -> FailingBackend:
    opened = FailingBackend()
    OPEN.add(opened)
    return opened
