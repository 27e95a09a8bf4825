"""Remedies of errors as Python: a keyword of `read`, or a method to call."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from cobalance.graph.errors import Action, CobalanceError, Setting

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

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
}


def in_python(part: Setting | Action) -> str:
    """Word a setting or an action for a notebook.

    Examples
    --------
    >>> in_python(Setting("id_column")), in_python(Setting("on_error", "skip"))
    ('id_column', "on_error='skip'")
    >>> in_python(Action("mine", "zoo", max_size=3)), in_python(Action("stop_server"))
    ("run `store['zoo'].mine(max_size=3)`", 'run `stop_server()`')
    """
    if isinstance(part, Setting):
        group, _, name = part.name.partition(".")
        if group == "masks":  # of a job
            return f"{group}={ {name: part.value or ...} }"
        if group == "planner":
            return f"planner_options={{'{name}': ...}}"
        keyword = "format" if part.name == "graph_format" else name or group
        return str(Setting(keyword, part.value))
    if part.name not in CALLS:
        return str(part)
    if part.name == "ingest" and "captions" in part.options:
        return f"run `store.load(read(..., captions={part.options['captions']!r}), ...)`"
    given = ["..." if value is ... else repr(value) for value in part.arguments]
    given += ["..."] * (2 - len(given))
    options = ", ".join(f"{name}={value!r}" for name, value in part.options.items())
    dataset = repr(part.options.get("dataset", ...)).replace("Ellipsis", "...")
    return f"run `{CALLS[part.name].format(*given, options=options, dataset=dataset)}`"


def speaks_python(function: Callable[P, R]) -> Callable[P, R]:
    """Have the errors of a function worded as Python."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except CobalanceError as error:
            error.words = in_python
            raise

    return call


def methods_speak_python(cls: type[C]) -> type[C]:
    """Have the errors of a class's public methods worded as Python."""
    for name, member in list(vars(cls).items()):
        if callable(member) and (name == "__getitem__" or not name.startswith("_")):
            setattr(cls, name, speaks_python(member))
    return cls
