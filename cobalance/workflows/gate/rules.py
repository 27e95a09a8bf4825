"""Rules of a gate, as a TOML file has them."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from cobalance.base import InputError, Options, decode_toml, first_fault, suggest_names

FILE = "cobalance-gate.toml"
"""The file of rules that is looked for in the working folder."""
_PROJECT = "pyproject.toml"
_REMEDY = "docs/gate.md lists all rules."
# Other names are between quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

Share = Annotated[float, Field(ge=0, le=1)]


class LeanRule(Options):
    """No combination of some concepts leans to a class: by evidence and by effect, both.

    Parameters
    ----------
    concepts : tuple of str
        The concepts of the combinations; ``"place"`` names all that begin with ``"place: "``, as
        concepts of a column do. Empty for all.
    max_size : int
        Concepts in the largest combination.
    max_q : float
        The largest q-value that is evidence. It is the share of files without any lean that break
        the rule by chance, at most.
    min_difference : float
        The smallest difference of rates that matters, as a share of a class.
    min_images : int
        Images of each class that each combination must have.
    """

    concepts: tuple[str, ...] = ()
    max_size: Annotated[int, Field(ge=1, le=8)] = 2
    max_q: Annotated[float, Field(gt=0, le=1)] = 0.005
    min_difference: Annotated[float, Field(gt=0, le=1)] = 0.02
    min_images: Annotated[int, Field(ge=0)] = 0


class Rules(Options):
    """All rules of a gate; those left out hold for everything.

    Parameters
    ----------
    data, baseline : str or None
        The file or dataset, and the baseline file, where the command names none. Files are
        relative to the file of rules.
    read : mapping
        How the file is read: options of `cobalance.read`, such as ``class_column``.
    leans : tuple of LeanRule
        By default one with its defaults.
    min_class_images : int
        Images that each class must have.
    max_bits : float or None
        Most bits that concepts alone may tell of the class, on images that are held out.
    separate_splits : bool
        Whether no cluster of images, nor near duplicates, may stand in several splits.
    max_property_auc : float or None
        Most that a property of the image files may tell a class from the others, as an AUC; 0.3 is
        as telling as 0.7.
    coverage : mapping of str to float
        For columns that became concepts, the smallest share of images that must have a value.
    """

    data: str | None = None
    baseline: str | None = None
    read: Mapping[str, Any] = Field(default_factory=dict)
    leans: tuple[LeanRule, ...] = (LeanRule(),)
    min_class_images: Annotated[int, Field(ge=0)] = 0
    max_bits: Annotated[float | None, Field(ge=0)] = None
    separate_splits: bool = False
    max_property_auc: Annotated[float | None, Field(ge=0.5, le=1)] = None
    coverage: Mapping[str, Share] = Field(default_factory=dict)


def read_rules(file: Path | None = None) -> tuple[Rules, Path | None]:
    """Read rules from a file, or from the one of the working folder; return its path, too.

    That is `FILE`, or a ``pyproject.toml`` with ``[tool.cobalance.gate]``. Without either the
    rules are the usual ones.

    Raises
    ------
    InputError
        The file cannot be read, or a rule in it is unknown or out of range.
    """
    if file is None:
        candidates = [Path(FILE), Path(_PROJECT)]
        file = next((path for path in candidates if path.is_file() and _table(path)), None)
    if file is None:
        return Rules(), None

    table = _table(file)
    if table is None:
        raise InputError(str(file), None, "has no [tool.cobalance.gate]", _REMEDY)
    return check_rules(table, str(file)), file


def check_rules(values: Mapping[str, Any], source: str = "rules") -> Rules:
    """Make rules of plain values, as a TOML file has them.

    Raises
    ------
    InputError
        A rule is unknown or out of range.

    Examples
    --------
    >>> check_rules({"leans": [{"concepts": ["gender"], "max_q": 0.05}]}).leans[0].max_size
    2
    >>> check_rules({"leans": [{"max_q": 5}]})
    Traceback (most recent call last):
    ...
    cobalance.base.errors.InputError: rules, leans[0].max_q: input should be less than or equal to \
1 (it is 5). docs/gate.md lists all rules.
    """
    try:
        return Rules.model_validate(dict(values))
    except ValidationError as error:
        fault = first_fault(error)
        reason, remedy = f"{fault.reason} (it is {fault.value!r:.60})", _REMEDY
        if fault.kind == "extra_forbidden":
            owner = LeanRule if fault.place.startswith("leans") else Rules
            name = fault.place.rpartition(".")[2]
            reason = "is no rule"
            remedy = suggest_names(name, sorted(owner.model_fields), "Rules")
        raise InputError(source, fault.place or None, reason, remedy) from error


def write_rules(rules: Rules) -> str:
    """Write the rules that were given as TOML, as `read_rules` reads them; no usual ones.

    Examples
    --------
    >>> print(write_rules(check_rules({"leans": [{"max_size": 1}], "min_class_images": 9})))
    min_class_images = 9
    <BLANKLINE>
    [[leans]]
    max_size = 1
    <BLANKLINE>
    """
    content = rules.model_dump(mode="json", exclude_unset=True)
    tables = [("[[leans]]", part) for part in content.pop("leans", [])]
    named = [name for name in ("read", "coverage") if name in content]
    tables += [(f"[{name}]", content.pop(name)) for name in named]

    lines = _assignments(content)
    for header, values in tables:
        lines += ["", header, *_assignments(values)]
    return "\n".join([*lines, ""])


def _assignments(values: Mapping[str, Any]) -> list[str]:
    """A line for each value: a number, truth value, list or text is in TOML as it is in JSON."""
    lines = []
    for name, value in values.items():
        key = name if _BARE_KEY.fullmatch(name) else json.dumps(name)
        lines.append(f"{key} = {json.dumps(value)}")
    return lines


def _table(file: Path) -> Mapping[str, Any] | None:
    """The rules in a TOML file; None for a project that has none."""
    try:
        content = decode_toml(file.read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise InputError(str(file), None, reason, "Name a file of rules.") from error
    except ValueError as error:
        raise InputError(str(file), None, f"is not TOML ({error})", _REMEDY) from error

    if file.name != _PROJECT:
        return content
    table: Any = content
    for name in ("tool", "cobalance", "gate"):
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else None
