"""Implementations that are imported when they are used: what they need may not be installed."""

import importlib
from dataclasses import dataclass
from typing import Any

from graph.errors import MissingExtraError


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
    """

    module: str
    extra: str
    purpose: str

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
