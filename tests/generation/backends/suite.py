"""Tests that every backend with a model passes, run on the tiny pipelines of each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from PIL import Image

from cobalance.base.errors import OutOfMemoryError
from cobalance.generation.backends.compositing.framing import fit_source
from cobalance.generation.backends.paste import PasteOptions, open_backend as open_paste
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import GeneratedImage, GenerationError, ImageRequest
from cobalance.generation.output.image_files import image_file
from cobalance.generation.output.manifest_rows import new_row
from cobalance.vision.images.arrays import MaskArray

TOLERANCE = 1e-5
"""How much pixels from 0 to 1 may depend on the batch in single precision.

Sums are rounded in another order in another batch.
"""
STEPS = 20
"""As many as a person takes. With very few, guidance makes more of each rounding: 4e-6 with two."""
GUIDANCE_SCALES = [1.0, None]
"""Without guidance, and with the pipeline's own."""

HOSTILE = (
    "",
    " ",
    ".",
    "..",
    "../../etc/passwd",
    "a\x00b\nc",
    "\ud800",
    "street" * 200,
    "\u0634\u0627\u0631\u0639 \U0001f6e3\ufe0f",
    "<script>alert(1)</script>",
    "_road_",
    "CON",
)
"""Names of concepts that paths, HTML and encodings may trip over."""

THIN = (
    (slice(3, 5), slice(10, 60)),  # a wire
    (slice(6, 58), slice(13, 14)),  # a pole
    (slice(37, 38), slice(37, 38)),  # a ball far away
    (slice(15, 17), slice(0, 64)),  # a horizon in two rows of cells
)
"""Rows and columns of objects thinner than 8 pixels, none of them in a cell's first pixel."""

Find = Callable[[str], str]
Ask = Callable[..., list[ImageRequest]]
Copied = Callable[[str], Path]


class Floats:
    """The pixels that a backend's model paints, before they are rounded, in the requests' order."""

    def __init__(self, backend: DiffusionBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        self._backend, self._painted = backend, list[npt.NDArray[np.float32]]()
        paint = backend.runner.paint

        def recorded(*args: Any) -> npt.NDArray[np.float32]:
            self._painted.append(paint(*args))
            return self._painted[-1]

        monkeypatch.setattr(backend.runner, "paint", recorded)

    def of(self, requests: Sequence[ImageRequest]) -> npt.NDArray[np.float32]:
        self._painted.clear()
        self._backend.generate(requests)
        return np.concatenate(self._painted)


def same(one: GeneratedImage, other: GeneratedImage) -> bool:
    masks = (one.mask is None and other.mask is None) or np.array_equal(one.mask, other.mask)
    return bool(masks) and np.array_equal(one.image, other.image) and one.details == other.details


def paste(model: str, **settings: object) -> DiffusionBackend:
    """The backend paste with a pipeline, and two steps by default."""
    return open_paste(PasteOptions.model_validate({"model": model, "steps": 2, **settings}))


def check_batches(
    backend: DiffusionBackend,
    requests: list[ImageRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An image is the same alone, in a batch, and elsewhere in it."""
    floats = Floats(backend, monkeypatch)
    together = floats.of(requests)
    assert together.dtype == np.float32
    assert together.std() > 0.05
    alone = np.concatenate([floats.of([request]) for request in requests])
    np.testing.assert_allclose(together, alone, rtol=0, atol=TOLERANCE)
    turned = floats.of(requests[::-1])[::-1]
    np.testing.assert_allclose(together, turned, rtol=0, atol=TOLERANCE)


def with_object(request: ImageRequest, window: tuple[slice, slice]) -> ImageRequest:
    """A request whose source has the object in a window of its pixels."""
    assert request.source is not None
    mask = np.zeros(request.source.mask.shape, bool)
    mask[window] = True
    return replace(request, source=replace(request.source, mask=mask))


def cells_of(mask: MaskArray) -> MaskArray:
    """The squares of 8 by 8 pixels with any of a mask."""
    rows, columns = (side // 8 for side in mask.shape)
    return mask.reshape(rows, 8, columns, 8).any(axis=(1, 3))


class BackendTests:
    """Tests of a backend; each module has the fixture `backend`.

    Attributes
    ----------
    name : str
        The backend's name.
    model : str
        The name of its tiny pipeline, in `tests.tiny.diffusion`.
    """

    name: str
    model: str

    def test_seeds(self, backend: DiffusionBackend, ask: Ask) -> None:
        """A request gives the same bits twice; another seed or prompt another image."""
        request = ask()[0]
        first, again = backend.generate([request])[0], backend.generate([request])[0]
        assert same(first, again)
        for changed in (replace(request, seed=request.seed + 1), replace(request, prompt="a dog")):
            assert not np.array_equal(first.image, backend.generate([changed])[0].image)

    def test_refusals(
        self, backend: DiffusionBackend, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A request without source, a device without memory and NaN pixels."""
        request = ask()[0]
        assert backend.generate([]) == []
        with pytest.raises(GenerationError, match="q0 has no source image"):
            backend.generate([replace(request, source=None)])
        pipeline = type(backend.runner.pipeline)
        call = pipeline.__call__

        def full(*args: Any, **options: Any) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")

        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "__call__", full)
            with pytest.raises(OutOfMemoryError, match="too little memory for 1 images of"):
                backend.generate([request])

        def overflowing(*args: Any, **options: Any) -> Any:
            result = call(*args, **options)
            result.images[0, 0, 0, 0] = np.nan
            return result

        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "__call__", overflowing)
            with pytest.raises(GenerationError, match=r"returned NaN pixels in torch\.float32"):
                backend.generate([request])

    def test_provenance(self, backend: DiffusionBackend) -> None:
        about = backend.describe()
        assert about["backend"] == self.name
        assert about["digital_source_type"].endswith("/compositeWithTrainedAlgorithmicMedia")
        assert about["model"] == about["settings"]["model"] == self.model
        assert about["revision"] is None
        assert len(about["weights_sha256"]) == 64
        assert (about["device"], about["dtype"]) == ("cpu", "float32")
        assert {"torch", "diffusers", "transformers"} <= set(about["software"])
        assert backend.needs_source


class ObjectKeptTests(BackendTests):
    """Tests of a backend that keeps the object's pixels."""

    @pytest.mark.parametrize("size", [(60, 84), (64, 64), (37, 151), (200, 160)])
    def test_the_object_is_kept_bit_by_bit(
        self, backend: DiffusionBackend, ask: Ask, size: tuple[int, int]
    ) -> None:
        request = ask(1, *size)[0]
        made = backend.generate([request])[0]
        assert request.source is not None
        assert made.mask is not None
        assert made.image.shape == (*size, 3)
        assert made.image.dtype == np.uint8
        assert np.array_equal(made.mask, request.source.mask)
        assert np.array_equal(made.image[made.mask], request.source.image[made.mask])
        outside = ~made.mask
        changed = (made.image[outside] != request.source.image[outside]).any(axis=1)
        assert changed.mean() > 0.9
        assert np.array_equal(made.kept, made.mask)


def check_kept(request: ImageRequest, made: GeneratedImage, kept: MaskArray) -> None:
    """Once in a PNG and out again, just the pixels to keep are the source's, and sanity agrees."""
    assert request.source is not None
    row = new_row(
        replace(request, id="j/0/0"),
        job="j",
        chunk="c",
        chunk_items=[],
        backend={"backend": "b", "digital_source_type": "t"},
    )
    stored = np.asarray(Image.open(BytesIO(image_file(made.image, row, "png"))))
    same = (stored == request.source.image).all(axis=2)
    assert made.kept is not None
    assert np.array_equal(made.kept, kept)
    assert same[kept].all()
    assert (~same)[~kept].mean() > 0.9
    judge = FILTERS.open("sanity")
    assert judge.judge([request], [made])[0].score == 1
    row_of_one, column = np.argwhere(kept)[-1]
    broken = made.image.copy()
    broken[row_of_one, column, 1] ^= 1
    found = judge.judge([request], [replace(made, image=broken)])[0]
    assert found.score == 1 - 1 / kept.sum()
    assert "differ from the source's" in found.reason


def check_own_size(backend: DiffusionBackend, request: ImageRequest) -> None:
    """An image of 72 by 96 pixels has the object of the source that is fitted to that size."""
    made = backend.generate([request])[0]
    assert request.source is not None
    image, mask, _ = fit_source(request.source, (96, 72))
    assert made.image.shape == (96, 72, 3)
    assert made.mask is not None
    assert np.array_equal(made.mask, mask)
    assert np.array_equal(made.image[mask], image[mask])
    assert made.kept is None
