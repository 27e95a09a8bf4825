"""Backend that asks a server with OpenAI's API of images, such as SGLang, vLLM-Omni or a service.

It sends ``POST {url}/images/edits``. OpenAI's mask is transparent where the image is painted, and
SGLang ignores a mask; vLLM-Omni takes one that is white there, as ``mask_image``. So whatever a
server has painted elsewhere is put back here, bit by bit.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from pydantic import Field, field_validator

from cobalance.base import Image, Plugin
from cobalance.generation.backends.remote.backend import (
    Answer,
    RemoteBackend,
    WantedImage,
    png_file,
    select_facts,
)
from cobalance.generation.backends.remote.options import RemoteOptions
from cobalance.generation.backends.remote.server import Reply, Server, ServerFaultError

_OWN_FIELDS = ("image", "mask", "mask_image", "prompt", "n", "size", "model")
_FACTS = ("id", "created", "model", "size", "quality", "output_format", "background", "usage")
"""What answers tell of an image, beside the image."""


class HttpOptions(RemoteOptions):
    """Options of the backend http.

    Parameters
    ----------
    model : str or None
        The model's name there; None for the only one of a server that has one.
    mask_as : {"mask", "mask_image", "none"}
        The field with the mask: ``mask`` as OpenAI has it, ``mask_image`` as vLLM-Omni does, or
        none. The pixels to keep are put back in each case.
    fields : mapping of str to str, number or None
        Further fields of the request, such as ``num_inference_steps``; None leaves one out that
        the server does not know, as ``seed`` and ``response_format``.
    """

    model: str | None = Field(default=None, min_length=1)
    mask_as: Literal["mask", "mask_image", "none"] = "mask"
    fields: Mapping[str, str | int | float | None] = Field(default_factory=dict)

    @field_validator("fields")
    @classmethod
    def _leaves_own_fields(cls, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        for name in _OWN_FIELDS:
            if name in fields:
                raise ValueError(f"{name} is filled in for each image. Leave it out of fields")
        return fields


PLUGIN = Plugin(
    "http",
    "Has a server paint the surroundings, the object or all, by OpenAI's API of images.",
    extra="worker",
    options=HttpOptions,
)


def open_backend(options: HttpOptions) -> RemoteBackend:
    """Open a backend that asks one or more servers by OpenAI's API.

    Raises
    ------
    OptionError
        The key file cannot be used.
    """
    return RemoteBackend("http", options, ImageEdits(options).ask, options.model)


@dataclass(eq=False)
class ImageEdits:
    """OpenAI's ``/images/edits``; for any number of threads."""

    options: HttpOptions
    _checked: set[str] = field(default_factory=set, init=False)
    _checking: Lock = field(default_factory=Lock, init=False)

    def ask(self, server: Server, wanted_image: WantedImage) -> Answer:
        """Ask a server for an image.

        Raises
        ------
        ServerFaultError
            It has another model, refuses, or answers with something else than an image.
        """
        with self._checking:
            if server.url not in self._checked:
                self._check_model(server)
                self._checked.add(server.url)

        fields, files = (
            self._fields(wanted_image),
            {"image": ("image.png", png_file(wanted_image.image))},
        )
        if wanted_image.mask is not None and self.options.mask_as != "none":
            mask = wanted_image.mask
            if self.options.mask_as == "mask":
                mask = _transparent(mask)
            files[self.options.mask_as] = ("mask.png", png_file(mask))

        reply = server.send("POST", "/images/edits", charged=True, data=fields, files=files)
        return self._read(server, reply)

    def _fields(self, wanted_image: WantedImage) -> dict[str, str]:
        """The fields of a request that are text."""
        height, width = wanted_image.size
        fields: dict[str, Any] = {
            "prompt": wanted_image.prompt,
            "n": 1,
            "size": f"{width}x{height}",
            "seed": wanted_image.seed,
            "response_format": "b64_json",
            "model": self.options.model,
            **self.options.fields,
        }
        return {name: str(value) for name, value in fields.items() if value is not None}

    def _check_model(self, server: Server) -> None:
        """Raise ServerFaultError where a server lists its models and lacks the one to ask for.

        vLLM-Omni takes any name, and paints with the model that it has.
        """
        try:
            listed = server.send("GET", "/models", charged=False).json().get("data")
        except ServerFaultError:
            # Not all servers list them.
            return
        # Others answer in a form of their own.
        if not isinstance(listed, list):
            return

        names = [model.get("id") for model in listed if isinstance(model, dict)]
        if names and self.options.model is not None and self.options.model not in names:
            listed_names = server.hide_key(", ".join(map(str, names)))
            message = f"has no model {self.options.model}, but {listed_names}"
            raise ServerFaultError(message, "stop", charged=False)

    def _read(self, server: Server, reply: Reply) -> Answer:
        """Read the image of a reply, with its facts."""
        body = reply.json()
        try:
            first = body["data"][0]
            image = base64.b64decode(first["b64_json"], validate=True)
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ServerFaultError("answers with no image in Base64 (data[0].b64_json)") from None
        except ValueError:
            raise ServerFaultError("answers with an image that is no Base64") from None

        model, named_model = body.get("model"), self.options.model
        if named_model is not None and model not in (None, named_model):
            painter = server.hide_key(str(model))
            message = f"painted with the model {painter}, not with {named_model}"
            raise ServerFaultError(message, "stop")

        facts = {name: body.get(name) for name in _FACTS}
        facts["request_id"] = reply.headers.get("x-request-id")
        facts["revised_prompt"] = first.get("revised_prompt")
        return Answer(image, select_facts(server, **facts), str(body.get("size", "")))


def _transparent(mask: "Image.Image") -> "Image.Image":
    """A mask that is transparent where it was white, as OpenAI has it."""
    picture = Image.merge("RGBA", [mask, mask, mask, mask])
    picture.putalpha(mask.point(lambda value: 255 - value))
    return picture
