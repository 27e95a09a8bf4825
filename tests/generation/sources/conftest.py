"""Sources of images that are noise, with annotations by hand."""

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.sources.mask_settings import MaskSettings
from cobalance.generation.sources.object_masks import ObjectMasks
from cobalance.generation.sources.sampler import Sources
from cobalance.graph.dataset.read import ClassImages
from cobalance.vision.images.regions import read_regions, write_regions

Annotate = Callable[..., Sources]


@pytest.fixture
def annotated(tmp_path: Path) -> Annotate:
    """Make sources of images of a size, by id; each has a class and mentions."""

    def make(
        images: dict[str, tuple[str, Sequence[Mention]]],
        size: tuple[int, int] = (60, 40),
        segmenting: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Sources:
        records = [
            ImageRecord(name, class_name, tuple(mentions), None, name, *size)
            for name, (class_name, mentions) in images.items()
        ]
        write_regions(tmp_path / "regions", "d", Annotations.from_records(records))
        classes = sorted({record.class_name for record in records})
        pixels = np.random.default_rng(3).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        content = BytesIO()
        Image.fromarray(pixels).save(content, "PNG")
        return Sources(
            {
                name: ClassImages(
                    *zip(*[(r.id, r.uri) for r in records if r.class_name == name], strict=True)
                )
                for name in classes
            },
            lambda uri: content.getvalue(),
            ObjectMasks(
                MaskSettings(**{"min_share": 0, **settings}),
                lambda ids: read_regions(tmp_path / "regions", "d", ids),
                **(segmenting or {}),
            ),
        )

    return make
