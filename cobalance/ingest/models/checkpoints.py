"""Find a model in a folder or on the hub, verify its files and pin it to a commit.

Only weights in safetensors files are read: a pickle runs whatever code it was written with.
"""

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import huggingface_hub
from safetensors import SafetensorError, safe_open

from cobalance.graph.errors import JobBlockedError, OptionError
from cobalance.ingest.models.hub import describe_error, download, find_in_cache, read_json
from cobalance.ingest.models.weight_files import (
    MODEL_FILE,
    PIPELINE_FILE,
    choose_weights,
    list_components,
)

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True)
class Checkpoint:
    """A verified model on this machine.

    Parameters
    ----------
    name : str
        The folder as given by the user, or the hub's ``owner/name``.
    revision : str or None
        Commit on the hub; None for a folder.
    folder : Path
        Folder of the files.
    weights : tuple of str
        The safetensors files that are loaded, relative to the folder, in ascending order.
    variant : str or None
        ``fp16`` or ``bf16`` where some component has weights in that precision alone.

    Attributes
    ----------
    label : str
        Name for provenance: of a folder only the last part, as the path may name a person.
    """

    name: str
    revision: str | None
    folder: Path
    weights: tuple[str, ...]
    variant: str | None = None
    label: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        label = self.name if self.revision is not None else self.folder.resolve().name
        object.__setattr__(self, "label", label)  # now: the folder may be moved later

    @cached_property
    def weights_sha256(self) -> str:
        """Digest of the weights: SHA-256 over a line ``name digest`` for each file, in order.

        Computed once per object, so take it when the model is loaded: the folder may change later.
        Unchanged files (by size and modification time) are read once per process.

        Raises
        ------
        JobBlockedError
            The files cannot be read.
        """
        digest = hashlib.sha256()
        for name in self.weights:
            try:
                path = (self.folder / name).resolve()
                facts = path.stat()
                of_file = _file_sha256(path, facts.st_size, facts.st_mtime_ns)
            except OSError as error:
                raise JobBlockedError(
                    f"The model {self.name}: {name} cannot be read ({describe_error(error)}). "
                    "Make it readable, or copy or download it again."
                ) from error
            digest.update(f"{name} {of_file}\n".encode())
        return digest.hexdigest()

    def read_config(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the model, such as ``unet/config.json``; empty if missing."""
        path = self.folder / name
        return read_json(path, f"The model {self.name}") if path.is_file() else {}


@lru_cache(maxsize=1024)
def _file_sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_checkpoint(
    model: str, revision: str | None = None, offline: bool = False, subfolder: str = ""
) -> Checkpoint:
    """Find a model on this machine, or download it if that is needed and allowed.

    Parameters
    ----------
    model : str
        A folder, or else a repository of the hub as ``owner/name``.
    revision : str or None
        The hub's commit, tag or branch; None for its main branch. It is resolved to a commit.
    offline : bool
        Use only what is in the hub's cache on this machine.
    subfolder : str
        Where in the folder or repository the model is, where that holds several.

    Raises
    ------
    OptionError
        A revision is given for a folder.
    JobBlockedError
        There is no such model, it is incomplete or damaged, or its weights are pickles.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise OptionError(
                f"The model {model} is a folder, which has no revision {revision!r}. Leave the "
                "revision out, or name a repository of the hub."
            )
        return _verify(model, None, folder, subfolder)
    if not _HUB_NAME.fullmatch(model):
        raise JobBlockedError(
            f"The model {model} is not here: there is no such folder. Give the folder that a model "
            "was saved to, or a repository of the hub as owner/name."
        )
    if offline or huggingface_hub.constants.HF_HUB_OFFLINE:
        folder = find_in_cache(model, revision, subfolder)
    else:
        folder = download(model, revision, subfolder)
    return _verify(model, folder.name, folder, subfolder)


def _verify(name: str, revision: str | None, folder: Path, subfolder: str) -> Checkpoint:
    if subfolder:
        name, folder = f"{name}/{subfolder}", folder / subfolder
    where = f"The model {name}"
    index = None
    if (folder / PIPELINE_FILE).is_file():
        index = read_json(folder / PIPELINE_FILE, where)
    elif not (folder / MODEL_FILE).is_file():
        raise JobBlockedError(
            f"{where} is not a model: it has neither {PIPELINE_FILE} nor {MODEL_FILE}. Give the "
            "folder that save_pretrained wrote, not one above or below it."
        )
    parts = ["", *list_components(index)]
    names = {
        f"{part}/{path.name}".lstrip("/")
        for part in parts
        if (folder / part).is_dir()
        for path in (folder / part).iterdir()
        if path.is_file()
    }
    weights, variant = choose_weights(where, names, index)
    for file in weights:
        try:
            with safe_open(folder / file, framework="numpy"):
                pass  # reads the header and compares it with the file's length
        except (SafetensorError, OSError) as error:
            raise JobBlockedError(
                f"{where}: {file} is damaged or cut short ({describe_error(error)}). Copy or "
                "download it again."
            ) from error
    return Checkpoint(name, revision, folder, weights, variant)
