"""Base of backends whose images a server makes: batches, retries, budget and provenance."""

import base64
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from threading import Event
from typing import Any

from cobalance.base import Image, JobBlockedError
from cobalance.generation.backends.compositing.framing import (
    Size,
    choose_model_size,
    choose_output_size,
)
from cobalance.generation.backends.pipelines.cropping import cropped_task
from cobalance.generation.backends.pipelines.diffusion import (
    COMPOSITE,
    PipelineTask,
    inpainting_task,
    whole_image_task,
)
from cobalance.generation.backends.remote.account import Account, BudgetSpentError, OwnAccount
from cobalance.generation.backends.remote.options import RemoteOptions
from cobalance.generation.backends.remote.server import (
    Server,
    ServerFaultError,
    ServerPool,
)
from cobalance.generation.image_request import (
    GeneratedImage,
    GenerationError,
    ImageRequest,
    SourceImage,
    require_source,
)
from cobalance.vision import ImageArray, ImageFileError, open_image, rgb_array, software

FORMATS = ("PNG", "JPEG", "WEBP")
"""Of the images that servers answer with, by Pillow's names."""
CELL_PX = 8
"""Side of the squares that latents of most models stand for; an object is masked in whole ones."""
SEEDS = 2**31 - 1
"""Seeds are from 1 to this: some servers take 0 for none, others have 31 bits."""
_MOST_FACT = 2_000
"""Characters of a fact that a server tells of an image, and that is kept with it."""


@dataclass(frozen=True, eq=False)
class WantedImage:
    """Image to ask a server for.

    Parameters
    ----------
    seed : int
        From 1 to `SEEDS`.
    size : tuple of int
        Height and width of the image to paint.
    image : PIL.Image.Image
        The image to edit, of that size, in RGB.
    mask : PIL.Image.Image or None
        White where it is to be painted; None for everywhere.
    """

    prompt: str
    seed: int
    size: Size
    image: "Image.Image"
    mask: "Image.Image | None" = None

    def digest(self) -> str:
        """Digest of all that is asked: the same question has the same answer."""
        digest = hashlib.sha256(json.dumps([self.prompt, self.seed, self.size]).encode())
        digest.update(self.image.tobytes())
        if self.mask is not None:
            digest.update(self.mask.tobytes())
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class Answer:
    """Answer of a server, with the image.

    Parameters
    ----------
    image : bytes
        The image's file.
    facts : mapping
        What it tells of the image, for provenance; JSON values.
    declared_size : str
        The image's size as the server says it, as in ``1024x768``; empty where it says none.
    """

    image: bytes
    facts: Mapping[str, Any] = field(default_factory=dict)
    declared_size: str = ""

    def dump(self) -> bytes:
        """Write it as JSON."""
        image = base64.b64encode(self.image).decode()
        values = {"image": image, "facts": self.facts, "declared_size": self.declared_size}
        return json.dumps(values).encode()

    @classmethod
    def load(cls, content: bytes) -> "Answer":
        """Read an answer that `dump` has written."""
        values = json.loads(content)
        return cls(**values | {"image": base64.b64decode(values["image"])})


Ask = Callable[[Server, WantedImage], Answer]
"""Asks a server for an image; raises `ServerFaultError`."""


Painted = tuple[ImageArray, Mapping[str, Any]]
"""A painted image, and what the server tells of it."""


def png_file(picture: "Image.Image") -> bytes:
    """A picture as a PNG file."""
    content = BytesIO()
    picture.save(content, "PNG", compress_level=1)
    return content.getvalue()


@dataclass(eq=False)
class RemoteBackend:
    """Backend whose images a server makes; see `cobalance.generation.backends.backend.Backend`.

    An image is reserved in the account before a server is asked for it, and an answer is kept there
    before the next one is asked for.

    Parameters
    ----------
    ask : callable
        Asks a server, by its protocol.
    model : str or None
        The model's name, as the server knows it.
    settings : mapping
        Further settings, for provenance; JSON values.
    """

    name: str
    options: RemoteOptions
    ask: Ask
    model: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    account: Account = field(default_factory=OwnAccount)
    needs_source = True

    def __post_init__(self) -> None:
        options, key = self.options, self.options.read_key()
        servers = [Server(url, key, options.timeout_s) for url in options.urls]

        interval_s = 0.0
        if options.per_minute is not None:
            interval_s = 60 / options.per_minute
        self._pool = ServerPool(servers, options.at_once, interval_s)

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage | GenerationError]:
        """Generate one image per request, in the same order, or the error in its place.

        Raises
        ------
        JobBlockedError
            No server makes images, or the budget is spent. Answers that have come are kept.
        """
        stopped = Event()

        def generate_unless_stopped(request: ImageRequest) -> GeneratedImage | GenerationError:
            if stopped.is_set():
                return GenerationError("The batch was stopped.")

            try:
                return self._generate(request)
            except BaseException:
                stopped.set()
                raise

        # The first error is raised once those that were begun have ended.
        at_once = self.options.at_once * len(self._pool.servers)
        with ThreadPoolExecutor(at_once, thread_name_prefix=self.name) as threads:
            results = list(threads.map(generate_unless_stopped, requests))

        # What was paid for is used; a batch without any image goes back to the queue.
        is_empty = not any(isinstance(result, GeneratedImage) for result in results)
        for result in results:
            if is_empty and isinstance(result, BudgetSpentError):
                raise JobBlockedError(str(result))
        return results

    def describe(self) -> Mapping[str, Any]:
        """Model, settings and software of the backend, for provenance; JSON values."""
        return {
            "backend": self.name,
            "digital_source_type": COMPOSITE,
            "model": self.model,
            "settings": {**self.options.model_dump(mode="json"), **self.settings},
            "device": "server",
            "software": software("cobalance", "httpx", "pillow"),
        }

    def _generate(self, request: ImageRequest) -> GeneratedImage | GenerationError:
        """Make an image of one or more answers, whose facts its details have."""
        facts = []
        try:
            result: GeneratedImage | PipelineTask
            result = self._prepare(require_source(request, self.name))
            while isinstance(result, PipelineTask):
                painted, image_facts = self._paint(request, result)
                facts.append(image_facts)
                result = result.finish(painted)
        except GenerationError as error:
            return error

        return replace(result, details={**(result.details or {}), "answers": facts})

    def _prepare(self, source: SourceImage) -> PipelineTask:
        options = self.options
        size = choose_output_size(options, source)
        if options.crop:
            return cropped_task(source, size, self._crop_size, CELL_PX, options)

        is_set = options.width_px is not None or options.height_px is not None
        seen = choose_model_size(size, options.native_px, options.multiple_px, is_set)
        if options.paint == "everything":
            return whole_image_task(source, size, seen)

        paint_object = options.paint == "object"
        return inpainting_task(source, size, seen, CELL_PX, paint_object=paint_object)

    def _crop_size(self, size: Size) -> Size:
        options = self.options
        return choose_model_size(size, options.native_px, options.multiple_px, is_set=False)

    def _paint(self, request: ImageRequest, task: PipelineTask) -> Painted:
        """Paint a task's image, or find it among the answers that were kept."""
        seed, inputs = 1 + request.seed % SEEDS, task.inputs
        wanted_image = WantedImage(
            request.prompt, seed, task.size, inputs["image"], inputs.get("mask_image")
        )
        name = wanted_image.digest()

        stored = self.account.read(request.id, name)
        if stored is not None:
            answer = Answer.load(stored)
            return self._decode(answer, wanted_image), answer.facts

        return self._ask_until_answered(wanted_image, partial(self.account.keep, request.id, name))

    def _ask_until_answered(
        self, wanted_image: WantedImage, keep: Callable[[bytes], None]
    ) -> Painted:
        """Ask servers for an image, with pauses that grow; keep the answer.

        Raises
        ------
        GenerationError
            A server refuses this image, or the budget is spent.
        JobBlockedError
            No server makes images.
        """
        tries = self.options.tries
        for number in range(tries):
            with self._pool.use() as server:
                try:
                    answer, painted = self._ask_once(server, wanted_image)
                except ServerFaultError as fault:
                    if fault.remedy == "reject":
                        raise GenerationError(f"The server {server.url} {fault}.") from fault
                    if fault.remedy == "stop":
                        raise _block(server, str(fault)) from fault

                    # Some more or less, so that all who wait do not come back at once.
                    pause_s = self.options.pause_s * 2**number * random.uniform(0.75, 1.25)  # noqa: S311
                    self._pool.rest(server, max(pause_s, fault.pause_s or 0.0))
                    reason = str(fault)
                else:
                    # Before the server gets another request.
                    keep(answer.dump())
                    return painted, answer.facts

        raise _block(server, f"{reason}, after {tries} tries")

    def _ask_once(self, server: Server, wanted_image: WantedImage) -> tuple[Answer, ImageArray]:
        """Ask a server once, within the budget."""
        most = self.options.budget
        if not self.account.reserve(most):
            raise BudgetSpentError(
                f"The budget is spent: {most:,} images were asked for. Order the images that are "
                "missing as a job with a budget of its own."
            )

        try:
            answer = self.ask(server, wanted_image)
            return answer, self._decode(answer, wanted_image)
        except ServerFaultError as fault:
            if not fault.charged:
                self.account.release()
            raise

    def _decode(self, answer: Answer, wanted_image: WantedImage) -> ImageArray:
        """Decode an image of the size that was asked for; ServerFaultError for any other."""
        height, width = wanted_image.size
        try:
            with open_image(answer.image, FORMATS) as image:
                size = f"{image.width}x{image.height}"
                is_declared = self.options.any_size and size == answer.declared_size
                if size != f"{width}x{height}" and not is_declared:
                    raise ServerFaultError(
                        f"answers with an image of {size} pixels where {width}x{height} were asked "
                        "for"
                    )

                return rgb_array(image)
        except ImageFileError as error:
            message = str(error).rstrip(".")
            raise ServerFaultError(f"answers with no usable image ({message})") from error


def _block(server: Server, reason: str) -> JobBlockedError:
    """The error that stops a job; its unfinished images are not lost."""
    return JobBlockedError(
        f"The server {server.url} {reason}. Put that right, then retry the job: images that were "
        "paid for are kept."
    )


def select_facts(server: Server, **facts: Any) -> dict[str, Any]:
    """Select the facts of an image for provenance: of a bounded length, and without the key."""
    selected = {"server": server.url}
    for name, value in facts.items():
        text = json.dumps(value)
        if value is None or len(text) > _MOST_FACT:
            continue

        # Some servers echo the key.
        if server.key is not None:
            text = text.replace(server.key, "***")
        selected[name] = json.loads(text)
    return selected
