"""Findings about the images of an export, for its card and its Croissant metadata."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from cobalance.counting import Incidence


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found in the images of an export.

    Parameters
    ----------
    rai : mapping of str to list of str
        Properties of Croissant's vocabulary of responsible AI.
    properties : mapping of str to object
        Further properties of the metadata, such as record sets and provenance.
    section : str
        A section of the data card, in Markdown.
    """

    rai: Mapping[str, list[str]] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)
    section: str = ""


Examine = Callable[[Incidence, pd.DataFrame], Findings]
"""Examines images that were written, with the manifest rows of those that were generated."""
