"""Models: found in a folder or on the hub, checked, pinned to a commit, and loaded.

Weights are read from safetensors files alone: a pickle runs whatever code it was written with.
Where they compute is decided in `ingest.models.devices`.
"""

import hashlib
import json
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

import huggingface_hub
import transformers
from safetensors import SafetensorError, safe_open

from graph.errors import JobBlockedError, OptionError, OutOfMemoryError
from ingest.models.devices import SMALLER_MODEL, out_of_memory
from ingest.models.tokenizer_check import check_tokenizer, check_tokenizers
from ingest.models.weight_files import MODEL_FILE, PIPELINE_FILE, choose_weights, list_components

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_SMALL_FILES = frozenset({".json", ".txt", ".model", ".jinja"})
_T5_OF_STABLE_3 = ("text_encoder_3", "tokenizer_3")
_LIBRARIES = ("diffusers", "transformers", "huggingface_hub", "accelerate")


@dataclass(frozen=True)
class Checkpoint:
    """A model whose files lie on this machine.

    Parameters
    ----------
    name : str
        The folder as it was given, or the hub's ``owner/name``.
    revision : str or None
        The hub's commit; None for a folder.
    folder : Path
        Where the files are.
    weights : tuple of str
        The safetensors files that are loaded, relative to the folder, in ascending order.
    variant : str or None
        ``fp16`` or ``bf16`` where some part has weights in that precision alone.

    Attributes
    ----------
    label : str
        Its name for provenance: of a folder the last part, as the rest may name a person.
    """

    name: str
    revision: str | None
    folder: Path
    weights: tuple[str, ...]
    variant: str | None = None
    label: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        label = self.name if self.revision is not None else self.folder.resolve().name
        object.__setattr__(self, "label", label)

    def weights_sha256(self) -> str:
        """The weights' digest: SHA-256 over a line ``name digest`` for each file, in order.

        The files are looked at the first time alone, which is when a model is opened: what is
        loaded stays what it is, whatever becomes of the folder. A file is read once a process, as
        long as its size and time of change stay the same.

        Raises
        ------
        JobBlockedError
            The files cannot be read.
        """
        return self._weights_sha256

    @cached_property
    def _weights_sha256(self) -> str:
        digest = hashlib.sha256()
        for name in self.weights:
            try:
                path = (self.folder / name).resolve()
                facts = path.stat()
                of_file = _file_sha256(path, facts.st_size, facts.st_mtime_ns)
            except OSError as error:
                raise JobBlockedError(
                    f"The model {self.name}: {name} cannot be read ({_first_line(error)}). Make it "
                    "readable, or copy or download it again."
                ) from error
            digest.update(f"{name} {of_file}\n".encode())
        return digest.hexdigest()

    def read_config(self, name: str) -> dict[str, Any]:
        """One of its JSON files, such as ``unet/config.json``; an empty one where it has none."""
        path = self.folder / name
        return _read_json(path, f"The model {self.name}") if path.is_file() else {}


@lru_cache(maxsize=1024)
def _file_sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_checkpoint(model: str, revision: str | None = None, offline: bool = False) -> Checkpoint:
    """A model's files on this machine, downloaded where that is needed and allowed.

    Parameters
    ----------
    model : str
        A folder, or a repository of the hub as ``owner/name``; a folder of that name comes first.
    revision : str or None
        The hub's commit, tag or branch; None for its main branch. It is resolved to a commit.
    offline : bool
        Ask the hub nothing: use what an earlier download left on this machine.

    Raises
    ------
    OptionError
        A revision is given for a folder.
    JobBlockedError
        There is no such model; it is no model, incomplete or damaged; its weights are pickles.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise OptionError(
                f"The model {model} is a folder, which has no revision {revision!r}. Leave the "
                "revision out, or name a repository of the hub."
            )
        return _check(model, None, folder)
    if not _HUB_NAME.fullmatch(model):
        raise JobBlockedError(
            f"The model {model} is not here: there is no such folder. Give the folder that a model "
            "was saved to, or a repository of the hub as owner/name."
        )
    if offline or huggingface_hub.constants.HF_HUB_OFFLINE:
        folder = _find_in_cache(model, revision)
    else:
        folder = _download(model, revision)
    return _check(model, folder.name, folder)


def _find_in_cache(model: str, revision: str | None) -> Path:
    for name in (PIPELINE_FILE, MODEL_FILE):
        found = huggingface_hub.try_to_load_from_cache(model, name, revision=revision)
        if isinstance(found, str):
            return Path(found).parent
    of_revision = f" of revision {revision}" if revision else ""
    option = f" --revision {revision}" if revision else ""
    raise JobBlockedError(
        f"The model {model}{of_revision} is not on this machine, and nothing may be downloaded. "
        f"Run 'hf download {model}{option}' where there is a connection, give a folder, or leave "
        "offline out."
    )


def _download(model: str, revision: str | None) -> Path:
    """Fetch what is loaded, and no more: repositories hold the same weights many times."""
    try:
        info = huggingface_hub.HfApi().model_info(model, revision=revision)
        names = {file.rfilename for file in info.siblings or ()}
        index = None
        if PIPELINE_FILE in names:
            path = huggingface_hub.hf_hub_download(model, PIPELINE_FILE, revision=info.sha)
            index = _read_json(Path(path), f"The model {model}")
        weights, _ = choose_weights(f"The model {model}", names, index)
        folders = {"", *list_components(index)}
        small = [
            name
            for name in names
            if PurePosixPath(name).suffix in _SMALL_FILES and name.rpartition("/")[0] in folders
        ]
        # By its name, not its commit: the cache then knows later, without the hub, what it is.
        return Path(
            huggingface_hub.snapshot_download(
                model, revision=revision, allow_patterns=[*weights, *small]
            )
        )
    except JobBlockedError:
        raise
    except Exception as error:  # whatever the network, the hub and the disk may come up with
        raise JobBlockedError(
            f"The model {model} cannot be downloaded: {_first_line(error)}. Check its name, the "
            "connection and your access to it, or give a folder; with offline, what is on this "
            "machine is used."
        ) from error


def _check(name: str, revision: str | None, folder: Path) -> Checkpoint:
    where = f"The model {name}"
    index = None
    if (folder / PIPELINE_FILE).is_file():
        index = _read_json(folder / PIPELINE_FILE, where)
    elif not (folder / MODEL_FILE).is_file():
        raise JobBlockedError(
            f"{where} is no model: it has neither {PIPELINE_FILE} nor {MODEL_FILE}. Give the folder"
            " that save_pretrained wrote, not one above or below it."
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
                pass  # the file's header, and whether the file is as long as that says
        except (SafetensorError, OSError) as error:
            raise JobBlockedError(
                f"{where}: {file} is damaged or cut short ({_first_line(error)}). Copy or download "
                "it again."
            ) from error
    return Checkpoint(name, revision, folder, weights, variant)


def _read_json(path: Path, where: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise JobBlockedError(
            f"{where}: {path.name} cannot be read ({_first_line(error)}). Download it again."
        ) from error
    if not isinstance(content, dict):
        raise JobBlockedError(f"{where}: {path.name} is not a JSON object. Download it again.")
    return content


def load(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    """A model or pipeline with its weights, from this machine's files alone.

    Parameters
    ----------
    kind : type
        A class with ``from_pretrained`` of diffusers or transformers.
    checkpoint : Checkpoint
        From `find_checkpoint`.
    **options
        Further arguments of ``from_pretrained``, such as ``dtype``.

    Raises
    ------
    JobBlockedError
        The library cannot load it, some of the model's tensors are not in the files, or a
        tokenizer knows no words.
    OutOfMemoryError
        The machine has no room for it.
    """
    if checkpoint.variant is not None:
        options["variant"] = checkpoint.variant
    index = checkpoint.read_config(PIPELINE_FILE)
    if not index or kind.__module__.startswith("transformers."):
        return _load_model(kind, checkpoint, **options)
    # diffusers would not say what tensors a model of transformers lacks
    for part in list_components(index):
        library, name = _read_entry(checkpoint, part, index[part])
        weights = tuple(file for file in checkpoint.weights if file.startswith(f"{part}/"))
        if weights and library == "transformers" and part not in options:
            plain = not any(f".{checkpoint.variant}" in file for file in weights)
            options[part] = _load_model(
                _find_class(checkpoint, part, name),
                replace(checkpoint, folder=checkpoint.folder / part, weights=weights),
                dtype=options.get("dtype"),
                **({} if plain else {"variant": checkpoint.variant}),
            )
    options = {**_list_left_out(index), **options}
    pipeline = _from_pretrained(kind, checkpoint, use_safetensors=True, **options)
    for model in pipeline.components.values():
        if hasattr(model, "parameters"):
            _refuse_gaps(
                checkpoint,
                model,
                [name for name, values in model.named_parameters() if values.is_meta],
            )
    check_tokenizers(checkpoint.name, pipeline)
    return pipeline


def _list_left_out(index: dict[str, Any]) -> dict[str, None]:
    """What a pipeline was saved without and paints without, though diffusers asks for it.

    That is the T5 of Stable Diffusion 3. Diffusers knows by itself what else is optional, and
    refuses to load what lacks a part that it cannot paint without.
    """
    null = [part for part in _T5_OF_STABLE_3 if index.get(part) == [None, None]]
    return dict.fromkeys(null) if _T5_OF_STABLE_3[0] in null else {}


def _read_entry(checkpoint: Checkpoint, part: str, entry: list[Any]) -> tuple[str, str]:
    match entry:
        case [str(library), str(name)]:
            return library, name
    raise JobBlockedError(
        f"The model {checkpoint.name}: {PIPELINE_FILE} has {json.dumps(entry)} for {part}, which "
        "is not a library and a class of it. Copy or download the file again."
    )


def _find_class(checkpoint: Checkpoint, part: str, name: str) -> Any:
    with quiet():
        kind = getattr(transformers, name, None)
    if kind is None:
        raise JobBlockedError(
            f"The model {checkpoint.name} needs {name} for {part}, which this transformers does "
            f"not have ({transformers.__version__}). Install a newer one, or correct the name in "
            f"{PIPELINE_FILE}."
        )
    return kind


def _load_model(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    model, report = _from_pretrained(
        kind, checkpoint, use_safetensors=True, output_loading_info=True, **options
    )
    # transformers fills such tensors with random numbers, and says so in a warning
    _refuse_gaps(
        checkpoint,
        model,
        [*report["missing_keys"], *(key[0] for key in report["mismatched_keys"])],
    )
    return model


def _refuse_gaps(checkpoint: Checkpoint, model: Any, missing: list[str]) -> None:
    if missing:
        raise JobBlockedError(
            f"The model {checkpoint.name} is not a complete {type(model).__name__}: {len(missing)} "
            f"of its tensors are missing, such as {min(missing)}. Give a model that was trained as "
            "one, or download it again."
        )


def load_processor(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    """A processor or tokenizer, which has files but no weights.

    Raises
    ------
    JobBlockedError
        The library cannot load it, or it is a tokenizer that knows no words.
    """
    processor = _from_pretrained(kind, checkpoint, **options)
    config = checkpoint.read_config(MODEL_FILE)
    words = (config.get("text_config") or config).get("vocab_size")
    check_tokenizer(checkpoint.name, kind.__name__, processor, words)
    return processor


def _from_pretrained(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    try:
        with out_of_memory(f"the model {checkpoint.label}", SMALLER_MODEL), quiet():
            return kind.from_pretrained(str(checkpoint.folder), local_files_only=True, **options)
    except OutOfMemoryError:
        raise
    except Exception as error:  # a library's loader raises whatever the files make it raise
        raise JobBlockedError(
            f"The model {checkpoint.name} cannot be loaded as {kind.__name__}: "
            f"{_first_line(error)}. Check that it is of this kind and complete."
        ) from error


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0].rstrip('.')}" if text else repr(error)


@contextmanager
def quiet() -> Iterator[None]:
    """Loading without the libraries' progress bars, advice and warnings; for a `with` block."""
    bars = [
        sys.modules[name]
        for name in ("diffusers.utils.logging", "transformers.utils.logging")
        if name in sys.modules
    ]
    shown = [bar for bar in bars if bar.is_progress_bar_enabled()]
    loggers = [logging.getLogger(name) for name in _LIBRARIES]
    levels = [logger.level for logger in loggers]
    try:
        for bar in shown:
            bar.disable_progress_bar()
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for bar in shown:
            bar.enable_progress_bar()
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def software(*packages: str) -> dict[str, str]:
    """The versions of the packages that are installed, by name.

    Examples
    --------
    >>> list(software("numpy", "no-such-package"))
    ['numpy']
    """
    versions = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
