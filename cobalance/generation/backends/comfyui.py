"""Backend that runs a workflow of ComfyUI for each image.

The workflow is a file in ComfyUI's API format (*Export (API)*), in which nodes are found by their
titles: ``image`` and ``mask`` load pictures, ``prompt`` holds the text, ``seed`` the seed, and
``output`` shows or saves the result. Image and mask are uploaded, the workflow is queued, and its
result is fetched once the history has it. A workflow that takes too long is cancelled.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from cobalance.base import InputError, Plugin, read_within, text_if
from cobalance.generation.backends.remote.backend import (
    Answer,
    RemoteBackend,
    WantedImage,
    png_file,
    select_facts,
)
from cobalance.generation.backends.remote.options import FilePath, RemoteOptions, ServerUrls
from cobalance.generation.backends.remote.server import Reply, Server, ServerFaultError
from cobalance.vision import ImageFileError, read_header

_MOST_BYTES = 16 << 20
_INPUTS: Mapping[str, tuple[str, ...]] = {
    "image": ("image",),
    "mask": ("image", "mask"),
    "prompt": ("text", "prompt", "value", "string"),
    "seed": ("seed", "noise_seed", "value", "int"),
}
"""Titles of nodes, and the names that the input to fill in may have; the first one counts."""
_LOADERS = ("ckpt_name", "unet_name")
"""Inputs of nodes that load a model."""


@dataclass(frozen=True)
class Workflow:
    """A workflow in ComfyUI's API format.

    Parameters
    ----------
    nodes : mapping of str to mapping
        Its nodes by id.
    places : mapping of str to tuple of two str
        Node and input to fill in, by title.
    output : str
        The node whose image is the result.
    sha256 : str
        Of its file.
    """

    nodes: Mapping[str, Mapping[str, Any]]
    places: Mapping[str, tuple[str, str]]
    output: str
    sha256: str

    @property
    def models(self) -> str | None:
        """The models that it loads, by their files' names; None where no node names one."""
        names = [
            str(node["inputs"][name])
            for node in self.nodes.values()
            for name in _LOADERS
            if isinstance(node["inputs"].get(name), str)
        ]
        return ", ".join(names) or None

    def fill_in(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Copy its nodes with values by title."""
        filled: dict[str, Any] = json.loads(json.dumps(self.nodes))
        for title, value in values.items():
            node, name = self.places[title]
            filled[node]["inputs"][name] = value
        return filled


def read_workflow(file: Path, *, has_mask: bool) -> Workflow:
    """Read a workflow, and find the nodes that are filled in.

    Raises
    ------
    InputError
        It is not in ComfyUI's API format, or has no node, or several, with a title.
    """
    remedy = "Export it from ComfyUI with Export (API)."
    content = read_within(file, _MOST_BYTES, "a workflow", remedy)
    try:
        nodes = json.loads(content)
    except (ValueError, RecursionError):
        nodes = None

    is_workflow = isinstance(nodes, dict) and all(
        isinstance(node, dict) and isinstance(node.get("inputs"), dict) for node in nodes.values()
    )
    if not is_workflow or not nodes:
        raise InputError(str(file), None, "it is no workflow in ComfyUI's API format", remedy)

    places = {}
    for title in _INPUTS:
        if title == "mask" and not has_mask:
            continue

        node = _find_node(file, nodes, title)
        inputs = nodes[node]["inputs"]
        names = [name for name in _INPUTS[title] if name in inputs]
        if not names:
            reason = f"the node {title} has no input {' or '.join(_INPUTS[title])}"
            raise InputError(str(file), f"node {node}", reason, "Give the title to another node.")

        places[title] = node, names[0]
    sha256 = hashlib.sha256(content).hexdigest()
    return Workflow(nodes, places, _find_node(file, nodes, "output"), sha256)


def _find_node(file: Path, nodes: Mapping[str, Any], title: str) -> str:
    """The id of the one node with a title, in any case of letters."""
    titled = []
    for node_id, node in nodes.items():
        meta = node.get("_meta")
        if isinstance(meta, dict) and str(meta.get("title")).strip().lower() == title:
            titled.append(node_id)

    if len(titled) != 1:
        count = "no node has"
        if titled:
            count = "several nodes have"

        raise InputError(
            str(file),
            None,
            f"{count} the title {title}",
            f"In ComfyUI, give it to one node, and export the workflow again: {', '.join(_INPUTS)} "
            "and output are needed.",
        )
    return titled[0]


class ComfyuiOptions(RemoteOptions):
    """Options of the backend comfyui.

    Parameters
    ----------
    workflow : str or None
        A file with a workflow in ComfyUI's API format, on the workers' machine. Nodes with the
        titles image, mask, prompt, seed and output are filled in and read.
    poll_s : float
        Pause between two looks for a result.
    """

    url: ServerUrls = "http://127.0.0.1:8188"
    workflow: FilePath = None
    poll_s: float = Field(default=0.5, gt=0, le=60)

    @model_validator(mode="after")
    def _has_a_workflow(self) -> Self:
        if self.workflow is None:
            raise ValueError("it runs a workflow, and none is named. Name its file with workflow")
        # Where jobs are ordered it need not be: only workers read it.
        if Path(self.workflow).exists():
            try:
                self.read_workflow()
            except InputError as error:
                raise ValueError(str(error)) from error
        return self

    def read_workflow(self) -> Workflow:
        """Read the workflow; errors as of the function of this name."""
        return read_workflow(Path(self.workflow or ""), has_mask=self.paint != "everything")


PLUGIN = Plugin(
    "comfyui",
    "Has a workflow of ComfyUI paint the surroundings, the object or all.",
    extra="worker",
    options=ComfyuiOptions,
)


def open_backend(options: ComfyuiOptions) -> RemoteBackend:
    """Open a backend that runs a workflow on one or more servers.

    Raises
    ------
    OptionError
        The key file cannot be used.
    InputError
        The workflow cannot be read, or lacks a node that is needed.
    """
    workflow = options.read_workflow()
    settings = {"workflow_sha256": workflow.sha256}
    ask = Workflows(options, workflow).ask
    return RemoteBackend("comfyui", options, ask, workflow.models, settings)


@dataclass(frozen=True, eq=False)
class Workflows:
    """ComfyUI's queue; for any number of threads."""

    options: ComfyuiOptions
    workflow: Workflow

    def ask(self, server: Server, wanted_image: WantedImage) -> Answer:
        """Run the workflow on a server, and fetch its image.

        Raises
        ------
        ServerFaultError
            It refuses the workflow, fails or takes too long, or gives no image.
        """
        values: dict[str, Any] = {"prompt": wanted_image.prompt, "seed": wanted_image.seed}
        pictures = {"image": wanted_image.image, "mask": wanted_image.mask}
        name = f"cobalance-{wanted_image.digest()}"
        for title, picture in pictures.items():
            if picture is not None:
                values[title] = _upload(server, f"{name}-{title}.png", png_file(picture))

        run = self._queue(server, self.workflow.fill_in(values))
        try:
            image = self._await(server, run)
        except BaseException as error:
            # Nobody waits for it any more.
            with suppress(ServerFaultError):
                _cancel(server, run)
            if isinstance(error, ServerFaultError):
                error.charged = True
            raise

        return Answer(image, select_facts(server, prompt_id=run), _size_of(image))

    def _queue(self, server: Server, nodes: Mapping[str, Any]) -> str:
        """Queue the workflow; return the id of its run."""
        try:
            reply = server.send("POST", "/prompt", charged=True, json={"prompt": nodes}).json()
        except ServerFaultError as fault:
            # A node or a model that the server lacks is none of this image's.
            if fault.remedy == "reject":
                raise ServerFaultError(str(fault), "stop", charged=False) from fault
            raise

        run = reply.get("prompt_id")
        if not isinstance(run, str) or not run.replace("-", "").isalnum():
            raise ServerFaultError("queues the workflow without an id (prompt_id)")
        return run

    def _await(self, server: Server, run: str) -> bytes:
        """Wait until the history has a run, and fetch its image."""
        deadline = time.monotonic() + self.options.timeout_s
        while True:
            history = self._get(server, f"/history/{run}", deadline).json()
            entry = history.get(run)
            if isinstance(entry, dict):
                place = self._find_image(server, entry)
                return self._get(server, "/view", deadline, params=place).body

            if time.monotonic() > deadline:
                raise ServerFaultError(f"gave no image within {self.options.timeout_s:g} s")
            time.sleep(self.options.poll_s)

    def _get(self, server: Server, path: str, deadline: float, **content: Any) -> Reply:
        """Get the state or the image of a run; to ask again costs nothing."""
        while True:
            try:
                return server.send("GET", path, charged=True, **content)
            except ServerFaultError as fault:
                pause_s = max(fault.pause_s or 0.0, self.options.poll_s)
                if fault.remedy != "retry" or time.monotonic() + pause_s > deadline:
                    raise

            time.sleep(pause_s)

    def _find_image(self, server: Server, entry: Mapping[str, Any]) -> dict[str, str]:
        """Where the image of a run that has ended is."""
        status = entry.get("status")
        if isinstance(status, dict) and status.get("status_str") == "error":
            raise ServerFaultError(f"failed in the workflow ({_failure_of(server, status)})")
        try:
            picture = entry["outputs"][self.workflow.output]["images"][0]
            return {name: str(picture[name]) for name in ("filename", "subfolder", "type")}
        except (KeyError, IndexError, TypeError):
            message = "ran the workflow, and its node output shows no image"
            raise ServerFaultError(message) from None


def _upload(server: Server, name: str, content: bytes) -> str:
    """Upload a picture; return the name by which nodes load it."""
    fields = {"type": "input", "overwrite": "true"}
    reply = server.send(
        "POST", "/upload/image", charged=False, data=fields, files={"image": (name, content)}
    ).json()
    if not isinstance(reply.get("name"), str):
        raise ServerFaultError("takes a picture without a name for it", charged=False)

    folder = reply.get("subfolder")
    return text_if(folder, f"{folder}/") + reply["name"]


def _cancel(server: Server, run: str) -> None:
    """Take a run out of the queue, or interrupt it where it is the running one."""
    server.send("POST", "/queue", charged=False, json={"delete": [run]})
    running = server.send("GET", "/queue", charged=False).json().get("queue_running") or ()
    # Older versions interrupt whatever runs, which may be somebody else's.
    if any(isinstance(entry, list) and run in entry[:2] for entry in running):
        server.send("POST", "/interrupt", charged=False, json={"prompt_id": run})


def _failure_of(server: Server, status: Mapping[str, Any]) -> str:
    """Error message of a failed run."""
    try:
        events = dict(status["messages"])
        reason = events["execution_error"]["exception_message"]
    except (KeyError, TypeError, ValueError):
        return "it does not say why"
    return server.hide_key(str(reason))


def _size_of(image: bytes) -> str:
    """The size of an image's file as the workflow made it; empty for a file that is no image."""
    try:
        header = read_header(image)
    except ImageFileError:
        return ""
    return f"{header.width_px}x{header.height_px}"
