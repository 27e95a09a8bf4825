"""Shortcuts: concepts that go with a class in training, and their state in each image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import RootModel, ValidationError

from cobalance.base import STRING, DataError, InputError, OptionError, decode_toml, first_fault
from cobalance.ingest import read_text

COMMON, UNCOMMON, NONE = "common", "uncommon", "none"
STATES = (COMMON, UNCOMMON, NONE)
ALL_CONCEPTS = "concepts"  # the shortcut that joins all leaning concepts
_OTHER_COLUMNS = (
    "image",
    "class_name",
    "predicted",
    "method",
    "seed",
    "n",
    "split",
    "synthetic",
    "cluster",
)


class _Document(RootModel[dict[str, dict[str, tuple[str, ...]]]]):
    """A file of shortcuts: for each shortcut and class, its concepts."""


@dataclass(frozen=True)
class Shortcuts:
    """Concepts that go with each class, by shortcut.

    Parameters
    ----------
    concepts : mapping of str to (mapping of str to sequence of str)
        For each shortcut, such as ``"background"``, the concepts that go with a class. A concept
        goes with one class of a shortcut.

    Raises
    ------
    OptionError
        There is no shortcut, one has no concepts or the name of another column, or a concept goes
        with two classes.

    Examples
    --------
    >>> Shortcuts({"background": {"urban": ("alley",), "country": ("field road",)}}).names
    ('background',)
    """

    concepts: Mapping[str, Mapping[str, Sequence[str]]]

    def __post_init__(self) -> None:
        if not self.concepts:
            raise OptionError("there are no shortcuts. Name at least one with its concepts.")
        for name, classes in self.concepts.items():
            if not is_shortcut(name):
                raise OptionError(f"a shortcut cannot be called {name!r}. Give it another name.")
            if not _owners(name, classes):
                raise OptionError(f"the shortcut {name} has no concepts. Name some, or remove it.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shortcuts."""
        return tuple(self.concepts)

    @classmethod
    def from_toml(cls, path: str | Path) -> "Shortcuts":
        """Read shortcuts from TOML: a table for each, with a list of concepts for each class.

        .. code-block:: toml

            [background]
            urban = ["alley", "crosswalk"]
            country = ["field road", "forest road"]

        Raises
        ------
        InputError
            The file cannot be read, is not TOML, or has another form.
        OptionError
            As the class.
        """
        form = 'Write a table for each shortcut, such as: [background] urban = ["alley"].'
        try:
            document = _Document.model_validate(decode_toml(read_text(Path(path)))).root
        except ValidationError as error:
            fault = first_fault(error)
            reason = f"{fault.place or 'the file'} is {fault.value!r}: {fault.reason}"
            raise InputError(str(path), None, reason, form) from error
        except ValueError as error:
            raise InputError(str(path), None, f"is not TOML ({error})", form) from error
        return cls(document)

    @classmethod
    def from_imbalances(cls, table: pd.DataFrame, *, each: bool = False) -> "Shortcuts":
        """Take the concepts whose log odds ratio has an interval without 0.

        Parameters
        ----------
        table : pandas.DataFrame
            From `cobalance.statistics.imbalance.imbalance_table`; rows of several concepts are
            left out.
        each : bool
            Whether each concept is a shortcut of its own. By default all are one shortcut,
            ``"concepts"``, so that an image belongs to one group.

        Returns
        -------
        Shortcuts
            A concept goes with the class that shows it at the highest rate.

        Raises
        ------
        DataError
            No concept leans to a class.
        """
        leaning = table[(table["size"] == 1) & (table["log_odds_ratio_low"] > 0)]
        if leaning.empty:
            raise DataError(
                "no concept leans to a class: every interval of a log odds ratio holds 0. "
                "Name the shortcuts in a TOML file."
            )

        pairs = zip(leaning["concepts"], leaning["highest_rate"], strict=True)
        owners = {concept: str(owner) for (concept,), owner in pairs}
        if each:
            return cls({concept: {owner: (concept,)} for concept, owner in owners.items()})

        by_class: dict[str, tuple[str, ...]] = dict.fromkeys(sorted(owners.values()), ())
        for concept, owner in owners.items():
            by_class[owner] += (concept,)
        return cls({ALL_CONCEPTS: by_class})


def is_shortcut(name: str) -> bool:
    """Whether a column of predictions or groups may be a shortcut or an attribute by its name."""
    return name not in _OTHER_COLUMNS and not name.startswith(("p_", "y_", "predicted_"))


def _owners(shortcut: str, classes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The class of each concept of a shortcut; OptionError where a concept has two."""
    owners: dict[str, str] = {}
    for class_name, concepts in classes.items():
        for concept in concepts:
            owner = owners.setdefault(concept, class_name)
            if owner != class_name:
                raise OptionError(
                    f"the shortcut {shortcut}: {concept!r} goes with {owner!r} and with "
                    f"{class_name!r}. Name each concept for one class."
                )
    return owners


def shortcut_groups(images: pd.DataFrame, shortcuts: Shortcuts) -> pd.DataFrame:
    """Whether each image has the common or an uncommon concept of each shortcut.

    Parameters
    ----------
    images : pandas.DataFrame
        One row an image: ``image``, ``class_name`` and ``concepts``, a collection of names or text
        such as ``cow|road``.

    Returns
    -------
    pandas.DataFrame
        ``image``, and a column for each shortcut: ``common`` where the image shows concepts of its
        own class alone, ``uncommon`` where it shows those of other classes alone, and ``none``
        where it shows none or both. Images keep their order.

    Examples
    --------
    >>> images = pd.DataFrame({"image": ["1", "2", "3"], "class_name": ["urban"] * 3,
    ...                        "concepts": [("alley",), ("field",), ("cow",)]})
    >>> shortcuts = Shortcuts({"background": {"urban": ("alley",), "country": ("field",)}})
    >>> shortcut_groups(images, shortcuts)
      image background
    0     1     common
    1     2   uncommon
    2     3       none
    """
    columns: dict[str, Any] = {"image": images["image"].astype(STRING).to_numpy()}
    class_names = images["class_name"].astype(STRING).to_numpy()
    concepts_by_image = [
        frozenset(concepts.split("|") if isinstance(concepts, str) else concepts)
        for concepts in images["concepts"]
    ]

    for name, classes in shortcuts.concepts.items():
        owners = _owners(name, classes)
        states = []
        for class_name, concepts in zip(class_names, concepts_by_image, strict=True):
            shown_owners = {owners[concept] for concept in concepts & owners.keys()}
            states.append(_state(class_name, shown_owners))
        columns[name] = pd.Categorical(states, categories=STATES)
    return pd.DataFrame(columns)


def _state(class_name: str, owners: set[str]) -> str:
    """State of a shortcut in an image that shows concepts of these classes; none if mixed."""
    if owners == {class_name}:
        return COMMON
    return UNCOMMON if owners and class_name not in owners else NONE
