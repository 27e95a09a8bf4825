"""Named Cypher: statements, and queries with checked parameters."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cobalance.base import OptionError, Setting, check_known, clean_name
from cobalance.graph.database.declarations import Node


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query.

    Parameters
    ----------
    purpose : str
        Its meaning, in a few words.
    type : type
        ``str``, ``int``, ``float`` or ``list`` (of names).
    default : object
        Its value when not given. `REQUIRED` means that it must be given.
    names : Node or None
        The kind of node that its value, or each of its values, is the name of.
    is_name : bool
        Whether it is a name, of such a node or of anything else, and is cleaned.
    """

    purpose: str
    type: type = str
    default: Any = None
    names: Node | None = None
    is_name: bool = False


REQUIRED: Any = object()


@dataclass(frozen=True)
class Statement:
    """A named Cypher statement that the program itself runs, with its purpose as a sentence."""

    purpose: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Query(Statement):
    """A statement that only reads, and that people run by its name, with checked parameters.

    Parameters
    ----------
    name : str
        As people type it.
    columns : tuple of str
        What it returns.
    parameters : mapping of str to Parameter
        ``dataset`` is always one of them.
    scans_images : bool
        Whether its time grows with the number of images in the dataset.
    reads_cliques : bool
        Whether it reads what mining wrote, and so needs it to be up to date.
    counts_images : bool
        Whether it counts image nodes, and so needs all of them in the graph.
    """

    name: str
    columns: tuple[str, ...]
    parameters: dict[str, Parameter] = field(default_factory=dict)
    scans_images: bool = False
    reads_cliques: bool = False
    counts_images: bool = False

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the given parameters, and fill in the defaults of the others.

        Raises
        ------
        OptionError
            One is unknown, missing, or of another type; the message says how to give it.

        Examples
        --------
        >>> parameters = {"max_images": Parameter("the most images", int, 10)}
        >>> rare = Query(
        ...     "Rare concepts.", "...", name="rare", columns=(), parameters=parameters
        ... )
        >>> rare.bind({})
        {'max_images': 10}
        >>> rare.bind({"max_images": "few"})
        Traceback (most recent call last):
        ...
        cobalance.base.errors.OptionError: rare: max_images is 'few'; it takes a whole number.
        """
        check_known(f"parameter of {self.name}", given, self.parameters)
        bound = {}
        for name, parameter in self.parameters.items():
            value = given.get(name, parameter.default)
            if value is REQUIRED:
                raise OptionError(
                    f"{self.name} needs {name}: {parameter.purpose}. Give it with ",
                    Setting(f"parameters.{name}"),
                    ".",
                )
            bound[name] = self._check(name, value, parameter)

        return bound

    def _check(self, name: str, value: Any, parameter: Parameter) -> Any:
        """The value, with names cleaned; OptionError if the parameter cannot have it."""
        if parameter.type is float and type(value) is int:
            return float(value)
        if value is None and parameter.default is None:
            return None

        is_list = parameter.type is list
        fits = type(value) is parameter.type
        if not fits or (is_list and not all(type(item) is str for item in value)):
            raise OptionError(
                f"{self.name}: {name} is {value!r}; it takes {_TYPES[parameter.type]}."
            )

        is_name = parameter.is_name or parameter.names is not None
        if not is_list:
            return clean_name(value) if is_name and parameter.type is str else value

        items = [*map(clean_name, value)] if is_name else value
        if len(set(items)) < len(items):
            raise OptionError(f"{self.name}: {name} names {items} twice; name each once.")
        if not items and parameter.default is REQUIRED:
            raise OptionError(f"{self.name}: {name} is empty; name at least one.")
        # The concepts of a clique's node are in ascending order.
        return sorted(items)


def describe_parameters(query: Query) -> str:
    """Describe a query's parameters in one line, optional ones in brackets.

    Examples
    --------
    >>> limit = Parameter("the most rows to return", int, 50)
    >>> parameters = {"dataset": Parameter("its name", default=REQUIRED), "limit": limit}
    >>> describe_parameters(Query("", "", name="rare", columns=(), parameters=parameters))
    'dataset [limit=50]'
    """
    return " ".join(_describe(name, parameter) for name, parameter in query.parameters.items())


def _describe(name: str, parameter: Parameter) -> str:
    if parameter.default is REQUIRED:
        return name
    has_value = parameter.default not in (None, [])
    return f"[{name}={json.dumps(parameter.default)}]" if has_value else f"[{name}]"


_TYPES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a JSON list of texts",
}
