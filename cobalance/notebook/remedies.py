"""Remedies of errors as Python: a keyword of `read`, or a method to call."""

import functools
import inspect
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec

from cobalance.base import Action, CobalanceError, R, Setting, UnknownNameError, argument_text
from cobalance.notebook.arguments import check_call

P = ParamSpec("P")

CALLS = {
    "ingest": "store.load(data, {dataset})",
    "mine": "store[{0}].mine({options})",
    "plan": "store[{0}].plan({options})",
    "plan_counterfactuals": "store[{0}].plan_counterfactuals({options})",
    "rebalance": "store.job({0}).rebalance({options})",
    "retry": "store.job({0}).retry({options})",
    "compute_embeddings": "store[{0}].compute_embeddings({options})",
    "rename_dataset": "store[{0}].rename({1})",
    "drop_dataset": "store.drop({0})",
    "restore": "store.restore({0})",
    "review_attributes": "cobalance annotate review {0}",
    "server_status": "cobalance store status",
    "stop_server": "cobalance store stop",
}


def in_python(part: Setting | Action) -> str:
    """Word a setting or an action for a notebook.

    Examples
    --------
    >>> in_python(Setting("id_column")), in_python(Setting("on_error", "skip"))
    ('id_column', "on_error='skip'")
    >>> in_python(Action("mine", "zoo", max_size=3)), in_python(Action("stop_server"))
    ("run `store['zoo'].mine(max_size=3)`", 'run `cobalance store stop`')
    """
    if isinstance(part, Setting):
        group, _, name = part.name.partition(".")
        # The masks of a job are a group of settings.
        if group == "masks":
            return f"{group}={ {name: part.value or ...} }"
        if group == "planner":
            return f"{name}=..."
        keyword = "format" if part.name == "graph_format" else name or group
        return str(Setting(keyword, part.value))

    if part.name not in CALLS:
        return str(part)
    if part.name == "ingest" and "captions" in part.options:
        return f"run `store.load(read(..., captions={part.options['captions']!r}), ...)`"

    # A call has at most two arguments; an ellipsis stands for each that is not known.
    arguments = list(map(argument_text, part.arguments))
    arguments += ["..."] * (2 - len(arguments))
    keywords = dict(part.options)
    planner_options = keywords.pop("planner_options", {})
    if isinstance(planner_options, dict):
        keywords |= planner_options
    options = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    dataset = repr(part.options.get("dataset", ...)).replace("Ellipsis", "...")
    return f"run `{CALLS[part.name].format(*arguments, options=options, dataset=dataset)}`"


def speaks_python(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function, and have its errors worded as Python."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            check_call(function.__name__, signature, args, kwargs)
            return function(*args, **kwargs)
        except CobalanceError as error:
            error.words = in_python
            raise

    return call


class UnknownAttributeError(UnknownNameError, AttributeError):
    """An attribute that a result or a store does not have."""


class SpeaksPython:
    """Base of results and stores: public methods check arguments and word errors as Python."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            if name.startswith("_") and name not in ("__getitem__", "__iter__", "__len__"):
                continue
            if isinstance(member, property) and member.fget is not None:
                setattr(cls, name, property(speaks_python(member.fget), doc=member.__doc__))
            elif inspect.isfunction(member):
                setattr(cls, name, speaks_python(member))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # A property that is there may have raised AttributeError.
            if name.startswith("_") or name in dir(self):
                return object.__getattribute__(self, name)
            known = [attribute for attribute in dir(self) if not attribute.startswith("_")]
            raise UnknownAttributeError(f"attribute of {type(self).__name__}", name, known)


def print_plainly() -> None:
    """Have an interactive Python print our errors as one line, as notebooks do."""
    usual = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, CobalanceError):
            print(*error._render_traceback_(), file=sys.stderr)  # noqa: T201
        else:
            usual(kind, error, trace)

    sys.excepthook = show


if hasattr(sys, "ps1"):
    print_plainly()
