"""Find a model in a folder or on the hub, verify its files and pin it to a commit.

Only weights in safetensors files are read: a pickle runs whatever code it was written with.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from cobalance.base import JobBlockedError, OptionError, decode_json, huggingface_hub, safetensors
from cobalance.vision.models.weight_files import (
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
        # Taken now, as the folder may be moved later.
        label = self.name if self.revision is not None else self.folder.resolve().name
        object.__setattr__(self, "label", label)

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
                status = path.stat()
                file_digest = _file_sha256(path, status.st_size, status.st_mtime_ns)
            except OSError as error:
                raise JobBlockedError(
                    f"The model {self.name}: {name} cannot be read ({describe_error(error)}). "
                    "Make it readable, or copy or download it again."
                ) from error

            digest.update(f"{name} {file_digest}\n".encode())
        return digest.hexdigest()

    def read_config(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the model, such as ``unet/config.json``; empty if missing."""
        path = self.folder / name
        if not path.is_file():
            return {}
        return read_json(path, f"The model {self.name}")


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
        There is no such model, no connection or no access to it, it is incomplete or damaged, or
        its weights are pickles.
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

    # Either gives a folder of the hub's cache, which is called like the commit.
    if offline or huggingface_hub.constants.HF_HUB_OFFLINE:
        folder = find_in_cache(model, revision, subfolder)
    else:
        folder = _download(model, revision, subfolder)
    return _verify(model, folder.name, folder, subfolder)


def _verify(name: str, revision: str | None, folder: Path, subfolder: str) -> Checkpoint:
    """The checkpoint in a folder; JobBlockedError where files are missing or cut short."""
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

    names: set[str] = set()
    for part in ("", *list_components(index)):
        # The glob of a folder that is missing is empty.
        files = filter(Path.is_file, (folder / part).glob("*"))
        names |= {f"{part}/{file.name}".lstrip("/") for file in files}

    weights, variant = choose_weights(where, names, index)

    for weight_file in weights:
        try:
            # Opening reads the header and compares it with the file's length.
            with safetensors.safe_open(folder / weight_file, framework="numpy"):
                pass
        except (safetensors.SafetensorError, OSError) as error:
            raise JobBlockedError(
                f"{where}: {weight_file} is damaged or cut short ({describe_error(error)}). Copy "
                "or download it again."
            ) from error
    return Checkpoint(name, revision, folder, weights, variant)


_SMALL_FILES = frozenset({".json", ".txt", ".model", ".jinja"})


def find_in_cache(model: str, revision: str | None, subfolder: str = "") -> Path:
    """Find an earlier download in the cache: the commit's folder, for any `subfolder`.

    JobBlockedError without one.
    """
    for name in (PIPELINE_FILE, MODEL_FILE):
        path = f"{subfolder}/{name}".lstrip("/")
        # A path, or else None or a mark that the repository has no such file.
        cached = huggingface_hub.try_to_load_from_cache(model, path, revision=revision)
        if isinstance(cached, str):
            return Path(cached.removesuffix(path))

    of_revision = option = ""
    if revision:
        of_revision, option = f" of revision {revision}", f" --revision {revision}"
    raise JobBlockedError(
        f"The model {model}{of_revision} is not on this machine, and downloads are off. "
        f"Run 'hf download {model}{option}' where there is a connection, give a folder, or leave "
        "offline out."
    )


def _download(model: str, revision: str | None, subfolder: str) -> Path:
    """Download only the files to load, as repositories hold the same weights in many forms.

    Returns the commit's folder, whatever the `subfolder`.
    """
    where = f"The model {model}"
    with downloading(model):
        info = huggingface_hub.HfApi().model_info(model, revision=revision)
        above = f"{subfolder}/" if subfolder else ""
        files = [file.rfilename for file in info.siblings or ()]
        names = {name.removeprefix(above) for name in files if name.startswith(above)}
        index = None
        if PIPELINE_FILE in names:
            path = huggingface_hub.hf_hub_download(model, above + PIPELINE_FILE, revision=info.sha)
            index = read_json(Path(path), where)
        weights, _ = choose_weights(where, names, index)

        # Beside the weights, the small files of each folder that is loaded.
        folders = {"", *list_components(index)}
        small = [
            name
            for name in names
            if PurePosixPath(name).suffix in _SMALL_FILES and name.rpartition("/")[0] in folders
        ]
        # By revision, not by commit, so that the cache can resolve the revision offline.
        snapshot = huggingface_hub.snapshot_download(
            model,
            revision=revision,
            allow_patterns=[above + name for name in (*weights, *small)],
        )
        return Path(snapshot)


@contextmanager
def downloading(model: str) -> Iterator[None]:
    """Raise JobBlockedError where a download in a ``with`` block fails."""
    try:
        yield
    except JobBlockedError:
        raise
    except Exception as error:  # network, hub and disk raise anything
        raise JobBlockedError(
            f"The model {model} cannot be downloaded: {describe_error(error)}. Check its name, the "
            "connection and your access to it, or give a folder; with offline, what is on this "
            "machine is used."
        ) from error


def read_json(path: Path, where: str) -> dict[str, Any]:
    """Read a JSON object; `where` names the model in errors."""
    try:
        content = decode_json(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise JobBlockedError(
            f"{where}: {path.name} cannot be read ({describe_error(error)}). Download it again."
        ) from error
    if not isinstance(content, dict):
        raise JobBlockedError(f"{where}: {path.name} is not a JSON object. Download it again.")
    return content


def describe_error(error: BaseException) -> str:
    """An error's type and the first line of its message."""
    text = str(error).strip()
    if not text:
        return repr(error)
    return f"{type(error).__name__}: {text.splitlines()[0].rstrip('.')}"
