"""Copies of datasets on the Hugging Face hub: their Parquet files without pixels."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow.parquet as pq

from cobalance.base import (
    CobalanceError,
    Progress,
    huggingface_hub,
    needs_extra,
    replacing,
    silent,
    track,
)
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.parquet import row_batches

_DATASETS = "hf://datasets/"
_BLOCK_BYTES = 1 << 18  # that a request asks for at least


def local_path(file: Path | str, progress: Progress = silent) -> Path:
    """Path of a file; of an address of the hub, such as ``hf://datasets/owner/name``, a copy.

    The copy is of a commit, and kept in ``cobalance`` in the hub's own cache (HF_HOME). Pixels are
    left out, and not downloaded. Tokens are those of huggingface_hub (HF_TOKEN, HF_TOKEN_PATH).

    Parameters
    ----------
    file : Path or str
        A path, or ``hf://datasets/owner/name[@revision][/folder]``.

    Raises
    ------
    InputError
        The hub cannot be reached, or has no such dataset, or no Parquet file of it.
    MissingExtraError
        huggingface_hub is not installed.
    """
    address = str(file)
    if not address.startswith(_DATASETS):
        return Path(file)

    problems = Problems(address)
    with needs_extra("Reading from the Hugging Face hub", "hub"), _reaching(problems):
        system = huggingface_hub.HfFileSystem()
        # It must be of a dataset: the hub has buckets, too.
        place: Any = system.resolve_path(address)
        title, inner = str(place.repo_id).rpartition("/")[2], str(place.path_in_repo)

        # Files of a commit never change, so that a copy stays right.
        about = huggingface_hub.HfApi().dataset_info(place.repo_id, revision=place.revision)
        commit = f"datasets/{place.repo_id}@{about.sha}"
        names = system.find(f"{commit}/{inner}".rstrip("/"))
        names = [name for name in names if name.endswith(".parquet")]
        if not names:
            remedy = (
                f"Name what the hub makes of it: {_DATASETS}{place.repo_id}@refs/convert/parquet."
            )
            raise problems.fatal("has no Parquet files", remedy)

        folder = Path(huggingface_hub.constants.HF_HOME) / "cobalance" / str(about.sha) / title
        for _, name in track(progress, "download", names):
            copy = folder / name.removeprefix(f"{commit}/")
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                with system.open(name, block_size=_BLOCK_BYTES) as source:
                    _copy(source, copy, problems)
    return folder / inner


def _copy(source: IO[bytes], target: Path, problems: Problems) -> None:
    """Copy the rows of a file, if it has some, without pixels."""
    batches = row_batches(source, problems, pixels=False)
    for batch in batches:
        with replacing(target) as part, pq.ParquetWriter(part, batch.schema) as writer:
            writer.write_batch(batch)
            for following in batches:
                writer.write_batch(following)


@contextmanager
def _reaching(problems: Problems) -> Iterator[None]:
    """Raise InputError where the hub or the network fails in a ``with`` block."""
    try:
        yield
    except (CobalanceError, ModuleNotFoundError):
        raise
    # The network, the hub and the disk raise anything.
    except Exception as error:
        line = (str(error).splitlines() or [""])[0]
        raise problems.fatal(
            f"cannot be read from the hub ({type(error).__name__}: {line})"[:300],
            "Check its name and the connection; what is not public needs a token in HF_TOKEN.",
        ) from error
