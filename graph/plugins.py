"""Implementations that are imported when they are used: what they need may not be installed."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from graph.errors import MissingExtraError
from graph.options import Options, read_options
from graph.registry import Registry

T = TypeVar("T")


@dataclass(frozen=True)
class Plugin:
    """An implementation in a module of its own.

    Parameters
    ----------
    module : str
        The module.
    extra : str
        The part of cobalance whose packages it needs, as pip installs it.
    purpose : str
        What it is for, in a line.
    options : type
        The options that it takes; by default it takes none. They are declared in another module,
        which needs no extra: a job is checked where it is ordered, and run where the extra is.
    """

    module: str
    extra: str
    purpose: str
    options: type[Options] = Options

    def load(self, name: str, what: str) -> Any:
        """Import the module and give what it has under a name.

        Parameters
        ----------
        name : str
            The name in the module.
        what : str
            The implementation, as people call it.

        Raises
        ------
        MissingExtraError
            A package is not installed.

        Examples
        --------
        >>> Plugin("json", "worker", "Reads JSON.").load("loads", "The reader json")("[1]")
        [1]
        """
        try:
            return getattr(importlib.import_module(self.module), name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == self.module.partition(".")[0]:
                raise
            raise MissingExtraError(what, self.extra) from error


class Plugins(Registry[Plugin], Generic[T]):
    """All implementations of one kind.

    A module of the kind ``filter`` has a function ``open_filter``: it takes the options that are
    registered with it, loads what they ask for, and gives a `generation.filters.filter.Filter`.

    Parameters
    ----------
    kind : str
        What they are, as people call one of them: ``"filter"``.
    """

    def check(self, name: str, values: Mapping[str, Any]) -> Options:
        """The options for an implementation, checked without importing it.

        Parameters
        ----------
        name : str
            The implementation's.
        values : mapping
            Some of its options, or all; each has a default.

        Raises
        ------
        UnknownNameError
            No implementation has this name.
        OptionError
            An option is unknown, or its value cannot be used.

        Examples
        --------
        >>> from generation.filters import FILTERS
        >>> FILTERS.check("clip", {"treshold": 0.65})
        Traceback (most recent call last):
        ...
        graph.errors.OptionError: The filter clip has no option 'treshold'. Its options: \
batch_size, device, dtype, model, offline, prefix, revision, text, threshold.
        """
        return read_options(self[name].options, values, self._called(name))

    def open(self, name: str, options: Mapping[str, Any] | Options | None = None) -> T:
        """An implementation with all that it needs loaded.

        Parameters
        ----------
        name : str
            The implementation's.
        options : mapping, Options or None
            As `check` takes or gives them; None for the defaults.

        Raises
        ------
        UnknownNameError
            No implementation has this name.
        OptionError
            An option is unknown, or asks for what cannot be done.
        MissingExtraError
            It needs packages that are not installed.
        JobBlockedError
            Its model is missing, incomplete or of the wrong kind.

        Examples
        --------
        >>> from generation.filters import FILTERS
        >>> FILTERS.open("blank", {"threshold": 0.1}).describe()["settings"]
        {'threshold': 0.1, 'min_luminance': 0.01}
        """
        checked = options if isinstance(options, Options) else self.check(name, options or {})
        opener = self[name].load(f"open_{self.kind}", self._called(name))
        return cast("T", opener(checked))

    def _called(self, name: str) -> str:
        return f"The {self.kind} {name}"
