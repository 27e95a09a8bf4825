"""Registries: names and what they stand for, mostly modules that are imported on first use.

A registry of modules has the full name of each, so that names are known, as for help, before
anything is imported that they stand for. A module declares itself with a `Declaration` named
``PLUGIN``, one with a family declares it in ``PLUGINS``. Importing it needs no optional package:
what an extra installs is imported on opening. So names, purposes and options are known wherever
cobalance runs. Beside cobalance's own there are those that packages and files offer: see
`cobalance.base.plugin_offers`.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

from cobalance.base.errors import (
    CobalanceError,
    DuplicateNameError,
    MachineError,
    MissingExtraError,
    UnknownNameError,
)
from cobalance.base.plugin_offers import Offer, files_folder, find_offers

if TYPE_CHECKING:
    from cobalance.base.options import Options

T = TypeVar("T")
RecordT = TypeVar("RecordT", bound="Declaration")
PluginT = TypeVar("PluginT", bound="Declaration")


class Registry(Generic[T]):
    """Named implementations of one kind.

    Parameters
    ----------
    kind : str
        What the entries are, for messages: ``"format"``, ``"planner"``.

    Examples
    --------
    >>> planners: Registry[int] = Registry("planner")
    >>> planners.register("a", 1)
    1
    >>> planners["b"]
    Traceback (most recent call last):
    ...
    cobalance.base.errors.UnknownNameError: unknown planner 'b'. Known: a.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str, entry: T) -> T:
        """Add `entry` under `name` and return it; a name that is taken raises."""
        if name in self._entries:
            raise DuplicateNameError(f"{self.kind} {name!r} is registered already.")
        self._entries[name] = entry
        return entry

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            raise UnknownNameError(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> list[tuple[str, T]]:
        """Names and entries in the order of registration."""
        return [(name, self[name]) for name in self]


@dataclass(frozen=True)
class Declaration:
    """Name and purpose (one line for people) of a module, in its constant ``PLUGIN``."""

    name: str
    purpose: str

    def fault(self, module: Any, opener_name: str) -> str:
        """Fault of the declaration, or of its module, as a clause; empty without one."""
        del module, opener_name
        return ""


class PluginError(MachineError):
    """A plug-in of a package or a file that cannot be used; all others can."""


class Declarations(Registry[Any], Generic[RecordT]):
    """Registry of modules of one kind, each with a declaration.

    Iterating gives the names of all, whether they can be used or not; `items` those that can.

    Parameters
    ----------
    kind : str
        What one of them is called in messages: ``"filter"``.
    modules : mapping of str to str
        The full name of each module, by the name that it declares.
    group : str
        Under which packages and files offer others: ``"filters"``; empty where they may not.
    declaration : str
        The full name of the class that those others declare themselves with.
    calls : str
        Which calls one that is opened has to take, as `misfit` reads them.
    """

    def __init__(
        self,
        kind: str,
        modules: Mapping[str, str] | None = None,
        group: str = "",
        declaration: str = "cobalance.base.plugins.Plugin",
        calls: str = "",
    ) -> None:
        super().__init__(kind)
        self.group, self.declaration, self.calls = group, declaration, calls
        for name, module in (modules or {}).items():
            self.register(name, module)

    def __getitem__(self, name: str) -> RecordT:
        """Return a declaration by its name. Raises UnknownNameError, PluginError."""
        module, source = self._find(name)
        record = _find_declaration(module, name)
        if source and (fault := self._fault(module, record)):
            raise self._error(name, source, fault)

        if record is None:
            raise TypeError(
                f"{module.__name__} has no declaration of the {self.kind} {name!r}. Declare PLUGIN "
                f"with the name {name!r} there."
            )
        return cast("RecordT", record)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._entries, *self.offers()]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def items(self) -> list[tuple[str, RecordT]]:
        """Names and declarations of all that can be used."""
        usable = []
        for name in self:
            with suppress(PluginError):
                usable.append((name, self[name]))
        return usable

    def offers(self) -> dict[str, list[Offer]]:
        """Offers of packages and files, by name."""
        if not self.group:
            return {}
        return find_offers(self.group)

    def list_offered(self, *names: str | None) -> list[str]:
        """Which of some names are not cobalance's own, each with its kind: ``filter mine``."""
        others = (name for name in names if name is not None and name not in self._entries)
        return [f"{self.kind} {name}" for name in others]

    def _fault(self, module: Any, record: Declaration | None) -> str:
        """Fault of an offered module and its declaration; empty without one."""
        place, _, name = self.declaration.rpartition(".")
        kind: type[Declaration] = getattr(importlib.import_module(place), name)
        if not isinstance(record, kind):
            return f"its PLUGIN has to be a {self.declaration} of this name"
        return record.fault(module, self._opener_name)

    @property
    def _opener_name(self) -> str:
        return f"open_{self.kind.replace(' ', '_')}"

    def _find(self, name: str) -> tuple[Any, str]:
        """The module of a name, and who offers it; empty for cobalance itself."""
        if name in self._entries:
            return importlib.import_module(self._entries[name]), ""

        offers = self.offers().get(name, [])
        if not offers:
            self._refuse_unknown(name)
        sources = ", ".join(offer.source for offer in offers)
        if len(offers) > 1:
            raise self._error(name, sources, "several have this name")

        # The module is not ours, and may raise anything when it is imported.
        try:
            return offers[0].load(), sources
        except (Exception, SystemExit) as error:
            message = str(error).partition("\n")[0]
            fault = f"it cannot be imported ({type(error).__name__}: {message})"
            raise self._error(name, sources, fault) from error

    def _refuse_unknown(self, name: str) -> NoReturn:
        """Raise UnknownNameError; PluginError for a file whose folder's name is nearly right."""
        folder = files_folder()
        files = folder.glob("*/*.py") if folder and self.group else ()
        for file in files:
            if file.stem == name and get_close_matches(file.parent.name, [self.group]):
                fault = f"it is not in {file.parents[1] / self.group}"
                raise self._error(name, str(file), fault)
        raise UnknownNameError(self.kind, name, self)

    def _error(self, name: str, source: str, fault: str) -> PluginError:
        return PluginError(
            f"The {self.kind} {name} of {source} cannot be used: {fault}. Correct or remove it."
        )


def _find_declaration(module: Any, name: str) -> Declaration | None:
    """The declaration of a name in a module: its own, or one of its family."""
    records = [getattr(module, "PLUGIN", None)]
    # A module of others may have anything under these names.
    family = getattr(module, "PLUGINS", ())
    if isinstance(family, tuple):
        records += family

    for record in records:
        if isinstance(record, Declaration) and record.name == name:
            return record
    return None


class Plugins(Declarations[PluginT], Generic[T, PluginT]):
    """Registry of the implementations of one kind, with their declarations.

    The module of each defines ``open_<kind>``, such as ``open_filter``, which takes its options.

    Examples
    --------
    >>> from cobalance.generation.filters import FILTERS
    >>> FILTERS["blank"].purpose
    'The image is not one colour, or nearly.'
    >>> FILTERS.open("blank", {"threshold": 0.1}).describe()["settings"]
    {'threshold': 0.1, 'min_luminance': 0.01}
    """

    def check(self, name: str, values: Mapping[str, Any]) -> "Options":
        """Validate a plug-in's options without loading its model or packages.

        Parameters
        ----------
        values : mapping
            Those that are left out have their defaults.

        Raises
        ------
        UnknownNameError
            No plugin has this name.
        OptionError
            An option is unknown, or its value is not allowed.
        """
        # Of the names alone, which help lists, nobody needs pydantic.
        from cobalance.base.options import read_options

        record: Any = self[name]
        return read_options(record.options, values, f"The {self.kind} {name}")

    def open(self, name: str, options: "Mapping[str, Any] | Options | None" = None) -> T:
        """Open a plug-in and load everything it needs.

        The options are as `check` takes or returns them; None for the defaults.

        Raises
        ------
        UnknownNameError
            No plugin has this name.
        OptionError
            An option is unknown or not allowed, or cannot be met on this machine.
        MissingExtraError
            It needs packages that are not installed.
        JobBlockedError
            Its model is missing, incomplete or of the wrong kind.
        """
        # A `cobalance.base.plugins.Plugin`, which knows pydantic.
        record: Any = self[name]
        _, source = self._find(name)
        if options is None or isinstance(options, Mapping):
            options = self.check(name, options or {})
        record.require_extra(f"The {self.kind} {name}")

        try:
            opened = self.opener(name)(options)
        except CobalanceError:
            raise
        except Exception as error:
            missing = _missing_package(error)
            if source:
                fault = f"it cannot be opened ({type(error).__name__}: {error})"
                if missing:
                    fault = f"{missing} is not installed"
                raise self._error(name, source, fault) from error
            if record.extra is None or not missing:
                raise
            # An extra counts as installed by its main packages: another one may be missing.
            raise MissingExtraError(f"The {self.kind} {name}", record.extra) from error

        if source and (fault := misfit(opened, f"what {self._opener_name} returns", self.calls)):
            raise self._error(name, source, fault)
        return opened

    def opener(self, name: str) -> Callable[[Any], T]:
        """The function that opens a plug-in from validated options."""
        module, _ = self._find(name)
        record: Any = self[name]
        return cast("Callable[[Any], T]", record.opener(module, self._opener_name))


def misfit(thing: Any, what: str, calls: str) -> str:
    """Clause about the first of some calls that a plug-in's function or object does not take.

    Examples
    --------
    >>> misfit("text", "what it opens", "upper(); judge(requests, made)|(options)")
    'what it opens has to take the call judge(requests, made) or (options)'
    """
    for alternatives in filter(None, calls.split("; ")):
        if not any(_takes(thing, call) for call in alternatives.split("|")):
            return f"{what} has to take the call {alternatives.replace('|', ' or ')}"
    return ""


def _takes(thing: Any, call: str) -> bool:
    """Whether a call such as ``judge(requests, made)`` or ``(options)`` fits."""
    name, _, words = call.rstrip(")").partition("(")
    # Raised for a builtin whose signature is not known, which may well fit.
    with suppress(ValueError):
        try:
            function = getattr(thing, name) if name else thing
            signature(function).bind(*filter(None, words.split(", ")))
        except (AttributeError, TypeError):
            return False
    return True


def _missing_package(error: Exception) -> str:
    """The module that an import did not find, where its whole package is not installed.

    Empty for other errors: an installed package that lacks a module is a defect.
    """
    if not isinstance(error, ModuleNotFoundError):
        return ""
    name = error.name or ""
    package = name.partition(".")[0]
    if not package or importlib.util.find_spec(package) is not None:
        return ""
    return name
