"""Plug-ins: one module each, imported on first use.

A plugin is a module with a `Plugin` declaration named ``PLUGIN``, and ``open_<kind>``, which takes
its options; a module with a family declares it in ``PLUGINS``. Importing the module needs no
optional package: what an extra installs is imported on opening. So names, purposes and options are
known wherever cobalance runs.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from cobalance.graph.errors import MissingExtraError
from cobalance.graph.options import Options, read_options
from cobalance.graph.registry import Registry

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


class Declarations(Registry[Any], Generic[RecordT]):
    """Registry of modules of one kind, each with a declaration.

    Parameters
    ----------
    kind : str
        What one of them is called in messages: ``"filter"``.
    modules : mapping of str to str
        The full name of each module, by the name that it declares.
    """

    def __init__(self, kind: str, modules: Mapping[str, str] | None = None) -> None:
        super().__init__(kind)
        for name, module in (modules or {}).items():
            self.register(name, module)

    def __getitem__(self, name: str) -> RecordT:
        """Return a declaration by its name. Raises UnknownNameError."""
        module = self._module(name)
        for record in getattr(module, "PLUGINS", None) or (module.PLUGIN,):
            if isinstance(record, Declaration) and record.name == name:
                return cast("RecordT", record)
        raise TypeError(
            f"{module.__name__} has no declaration of the {self.kind} {name!r}. Declare PLUGIN "
            f"with the name {name!r} there."
        )

    def _module(self, name: str) -> Any:
        return importlib.import_module(super().__getitem__(name))


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

        Examples
        --------
        >>> from cobalance.generation.filters import FILTERS
        >>> FILTERS.check("clip", {"treshold": 0.65})
        Traceback (most recent call last):
        ...
        cobalance.graph.errors.OptionError: The filter clip has no option 'treshold'. Its options: \
batch_size, device, dtype, model, offline, prefix, revision, text, threshold.
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
        checked = options if isinstance(options, Options) else self.check(name, options or {})
        try:
            return self.opener(name)(checked)
        except ModuleNotFoundError as error:
            if record.extra is None or not _is_missing(error):
                raise
            raise MissingExtraError(f"The {self.kind} {name}", record.extra) from error

    def opener(self, name: str) -> Callable[[Any], T]:
        """The function that opens a plug-in from validated options."""
        opener = self[name].open or getattr(
            self._module(name), f"open_{self.kind.replace(' ', '_')}"
        )
        return cast("Callable[[Any], T]", opener)


def list_extras(plugins: Iterable[Plugin]) -> list[str]:
    """The extras that some plug-ins need together, in the order of `EXTRAS`."""
    wanted = {plugin.extra for plugin in plugins}
    return [extra for extra in EXTRAS if extra in wanted]


def _is_missing(error: ModuleNotFoundError) -> bool:
    """Whether a whole package is not installed; else an installed one lacks a module: a defect."""
    package = (error.name or "").partition(".")[0]
    return bool(package) and importlib.util.find_spec(package) is None
