"""Options of an export, its report and its error."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cobalance.base import CobalanceError, OptionError


class ExportError(CobalanceError):
    """An export that cannot be written; its folder is left as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Options of an export.

    Parameters
    ----------
    reference : bool
        Refer to real images by their addresses instead of copying them. Generated ones are always
        copied.
    skip_missing : bool
        Leave out and count images that cannot be read; otherwise the first one is an error.
    overwrite : bool
        Replace the folder whatever is in it. An unchanged export of the same job in the same format
        is replaced in any case.
    split : str or None
        Split of generated images whose source image has none. None is ``"train"`` if any other
        image has a split, and else no split.
    format_options : mapping of str to object
        Options of the format itself, declared in its module.
    """

    reference: bool = False
    skip_missing: bool = False
    overwrite: bool = False
    split: str | None = None
    format_options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.split is not None and not re.search(r"\S", self.split):
            raise OptionError("The split is empty. Pass a name such as train.")


@dataclass(frozen=True)
class ExportReport:
    """Report of a finished export.

    Parameters
    ----------
    counts : mapping of str to int
        ``real images``, ``generated images``, ``real images left out`` and ``generated images left
        out``, which add up to all images, and others, such as ``masks that cannot be read``.
    """

    counts: Mapping[str, int]
    files: int
    bytes: int
