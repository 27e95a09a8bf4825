"""Plug-ins: one module each, imported on first use.

A plugin is a module with a `Plugin` declaration named ``PLUGIN``, and ``open_<kind>``, which takes
its options; a module with a family declares it in ``PLUGINS``. Importing the module needs no
optional package: what an extra installs is imported on opening. So names, purposes and options are
known wherever cobalance runs. Beside cobalance's own there are those that packages and files offer:
see `cobalance.base.plugin_offers`.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import signature
from typing import Any, Generic, NoReturn, TypeVar, cast

from cobalance.base.errors import CobalanceError, MachineError, MissingExtraError, UnknownNameError
from cobalance.base.options import Options, read_options
from cobalance.base.plugin_offers import Offer, files_folder, find_offers
from cobalance.base.registry import Registry

T = TypeVar("T")
RecordT = TypeVar("RecordT", bound="Declaration")
PluginT = TypeVar("PluginT", bound="Plugin")

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "annotate": ("openai", "sklearn"),
    "evaluate": ("sklearn",),
    "worker": ("dbos",),
    "models": ("torch", "diffusers", "transformers"),
    "train": ("sklearn", "torch", "timm", "transformers"),
}
"""The extras that plugins need, the smaller first, each with packages that tell it is installed."""


def is_installed(extra: str) -> bool:
    """Whether an extra's packages are installed."""
    return all(importlib.util.find_spec(name) is not None for name in EXTRAS[extra])


@dataclass(frozen=True)
class Declaration:
    """Name and purpose (one line for people) of a module, in its constant ``PLUGIN``."""

    name: str
    purpose: str


@dataclass(frozen=True)
class Plugin(Declaration):
    """The declaration of an implementation that is opened with options.

    Parameters
    ----------
    extra : str or None
        The extra that installs its packages, a name in `EXTRAS`; None where it needs none.
    options : type
        Its options; by default it has none.
    licence : str
        The licence of its default model, by its publisher; empty where it has none of its own.
    non_commercial : str
        What to take where that licence does not allow the use, as a sentence for whoever orders
        images; empty where it allows any.
    open : callable or None
        Opens one of a family from its options; None for the module's ``open_<kind>``.
    """

    extra: str | None = None
    options: type[Options] = Options
    licence: str = ""
    non_commercial: str = ""
    open: Callable[[Any], Any] | None = field(default=None, kw_only=True)


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
    declaration : type
        Of those others.
    calls : str
        Which calls one that is opened has to take, as `misfit` reads them.
    """

    def __init__(
        self,
        kind: str,
        modules: Mapping[str, str] | None = None,
        group: str = "",
        declaration: type[Declaration] = Declaration,
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

    def _fault(self, _module: Any, record: Declaration | None) -> str:
        """Fault of an offered module and its declaration; empty without one."""
        if isinstance(record, self.declaration):
            return ""
        declaration = f"{self.declaration.__module__}.{self.declaration.__name__}"
        return f"its PLUGIN has to be a {declaration} of this name"

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

    def check(self, name: str, values: Mapping[str, Any]) -> Options:
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
        return read_options(self[name].options, values, f"The {self.kind} {name}")

    def open(self, name: str, options: Mapping[str, Any] | Options | None = None) -> T:
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
        record = self[name]
        _, source = self._find(name)
        checked = options if isinstance(options, Options) else self.check(name, options or {})
        if record.extra is not None and not is_installed(record.extra):
            raise MissingExtraError(f"The {self.kind} {name}", record.extra)

        try:
            opened = self.opener(name)(checked)
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
        opener = self[name].open or getattr(module, self._opener_name)
        return cast("Callable[[Any], T]", opener)

    @property
    def _opener_name(self) -> str:
        return f"open_{self.kind.replace(' ', '_')}"

    def _fault(self, module: Any, record: Any) -> str:
        """Fault of an offered module, its declaration or the function that opens it."""
        if fault := super()._fault(module, record):
            return fault
        if record.extra not in (None, *EXTRAS):
            return f"there is no extra {record.extra!r} (known: {', '.join(EXTRAS)})"
        # The declaration of a metric has the function itself, and opens nothing.
        if hasattr(record, "compute"):
            return misfit(record.compute, "its compute", "(inputs, options)")

        opener = record.open or getattr(module, self._opener_name, None)
        if opener is None:
            return f"it does not define {self._opener_name}"
        return misfit(opener, self._opener_name, "(options)")


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


def join_needs(extra: str, plugins: Iterable[str] = ()) -> str:
    """Join an extra and `Declarations.list_offered` to one text: the needs of a job or task."""
    return ", ".join([extra, *sorted(plugins)])


def list_extras(plugins: Iterable[Plugin]) -> list[str]:
    """The extras that some plug-ins need together, in the order of `EXTRAS`."""
    needed = {plugin.extra for plugin in plugins}
    return [extra for extra in EXTRAS if extra in needed]


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
