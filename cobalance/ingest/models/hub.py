"""Model repositories on the Hugging Face hub: download what is loaded, or find it in the cache."""

from pathlib import Path, PurePosixPath
from typing import Any

import huggingface_hub

from cobalance.graph.errors import JobBlockedError
from cobalance.ingest.documents import decode_json
from cobalance.ingest.models.weight_files import (
    MODEL_FILE,
    PIPELINE_FILE,
    choose_weights,
    list_components,
)

_SMALL_FILES = frozenset({".json", ".txt", ".model", ".jinja"})


def find_in_cache(model: str, revision: str | None, subfolder: str = "") -> Path:
    """Folder of an earlier download in the cache; JobBlockedError if there is none.

    It is the commit's folder, whatever the `subfolder` that the model must be in.
    """
    for name in (PIPELINE_FILE, MODEL_FILE):
        path = f"{subfolder}/{name}".lstrip("/")
        found = huggingface_hub.try_to_load_from_cache(model, path, revision=revision)
        if isinstance(found, str):
            return Path(found.removesuffix(path))
    of_revision = f" of revision {revision}" if revision else ""
    option = f" --revision {revision}" if revision else ""
    raise JobBlockedError(
        f"The model {model}{of_revision} is not on this machine, and downloads are off. "
        f"Run 'hf download {model}{option}' where there is a connection, give a folder, or leave "
        "offline out."
    )


def download(model: str, revision: str | None, subfolder: str = "") -> Path:
    """Download only the files to load: repositories hold the same weights in many forms.

    Returns
    -------
    Path
        The commit's folder, whatever the subfolder that the model is in.

    Raises
    ------
    JobBlockedError
        There is no such model, no connection or no access, or its weights are pickles.
    """
    try:
        info = huggingface_hub.HfApi().model_info(model, revision=revision)
        above = f"{subfolder}/" if subfolder else ""
        files = [file.rfilename for file in info.siblings or ()]
        names = {name.removeprefix(above) for name in files if name.startswith(above)}
        index = None
        if PIPELINE_FILE in names:
            path = huggingface_hub.hf_hub_download(model, above + PIPELINE_FILE, revision=info.sha)
            index = read_json(Path(path), f"The model {model}")
        weights, _ = choose_weights(f"The model {model}", names, index)
        folders = {"", *list_components(index)}
        small = [
            name
            for name in names
            if PurePosixPath(name).suffix in _SMALL_FILES and name.rpartition("/")[0] in folders
        ]
        # By revision, not by commit, so that the cache can resolve the revision offline.
        return Path(
            huggingface_hub.snapshot_download(
                model,
                revision=revision,
                allow_patterns=[above + name for name in (*weights, *small)],
            )
        )
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
    return f"{type(error).__name__}: {text.splitlines()[0].rstrip('.')}" if text else repr(error)
