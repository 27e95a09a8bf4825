"""What a person can say about an export, and what is told of it afterwards."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from graph.errors import CobalanceError, OptionError

Images = Literal["copy", "reference"]
Missing = Literal["error", "skip"]


class ExportError(CobalanceError):
    """An export that cannot be written; nothing of it is under the folder's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """How to write an export.

    Parameters
    ----------
    images : {"copy", "reference"}
        Whether real images are copied, or stay where they are and are named by their addresses.
        Generated ones are always copied.
    missing : {"error", "skip"}
        Whether an image that cannot be read ends the export, or is left out and counted.
    overwrite : bool
        Replace the folder whatever is in it. An earlier export of the same job in the same format
        is replaced without, unless somebody has changed it.
    split : str or None
        Of generated images whose source image has none. None is ``"train"`` where other images
        have splits, and no split otherwise.
    shard_bytes, shard_images : int
        Where a WebDataset shard ends, whichever comes first.
    group_concepts : tuple of str or None
        The concepts whose combinations are the groups of `weights`; None for all.
    """

    images: Images = "copy"
    missing: Missing = "error"
    overwrite: bool = False
    split: str | None = None
    shard_bytes: int = 512 * 1024**2
    shard_images: int = 10_000
    group_concepts: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, known in (("images", get_args(Images)), ("missing", get_args(Missing))):
            if getattr(self, name) not in known:
                raise OptionError(f"{name} is {getattr(self, name)!r}. Pass {' or '.join(known)}.")
        if min(self.shard_bytes, self.shard_images) < 1:
            raise OptionError(
                f"A shard of {self.shard_bytes:,} bytes and {self.shard_images:,} images holds "
                "nothing. Pass 1 or more."
            )
        if self.split is not None and not re.search(r"\S", self.split):
            raise OptionError("The split is empty. Pass a name such as train.")


@dataclass(frozen=True)
class ExportReport:
    """What an export wrote.

    Parameters
    ----------
    counts : mapping of str to int
        ``real images``, ``generated images``, ``real images left out`` and ``generated images left
        out`` (which add up to those given), and what else there was to count, such as ``masks that
        cannot be read``.
    files : int
        How many files.
    bytes : int
        Their size.
    """

    counts: Mapping[str, int]
    files: int
    bytes: int
