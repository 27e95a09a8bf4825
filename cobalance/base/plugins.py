"""Plug-ins: what is opened with options, and what it needs installed."""

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cobalance.base.errors import MissingExtraError
from cobalance.base.options import Options
from cobalance.base.registry import Declaration, misfit

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

    def opener(self, module: Any, name: str) -> Callable[[Any], Any] | None:
        """The function that opens it from validated options, if it or its module has one."""
        return self.open or getattr(module, name, None)

    def require_extra(self, owner: str) -> None:
        """Raise MissingExtraError, which names the owner, unless its extra is installed."""
        if self.extra is not None and not is_installed(self.extra):
            raise MissingExtraError(owner, self.extra)

    def fault(self, module: Any, opener_name: str) -> str:
        """Fault of the declaration or of the function that opens it."""
        if self.extra not in (None, *EXTRAS):
            return f"there is no extra {self.extra!r} (known: {', '.join(EXTRAS)})"
        opener = self.opener(module, opener_name)
        if opener is None:
            return f"it does not define {opener_name}"
        return misfit(opener, opener_name, "(options)")


def join_needs(extra: str, plugins: Iterable[str] = ()) -> str:
    """Join an extra and `Declarations.list_offered` to one text: the needs of a job or task."""
    return ", ".join([extra, *sorted(plugins)])


def list_extras(plugins: Iterable[Plugin]) -> list[str]:
    """The extras that some plug-ins need together, in the order of `EXTRAS`."""
    needed = {plugin.extra for plugin in plugins}
    return [extra for extra in EXTRAS if extra in needed]
