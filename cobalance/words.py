"""Remedies of errors as Python: a keyword of `read`, or a method to call."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from cobalance.graph.errors import Action, CobalanceError, Setting

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

KEYWORDS = {
    "table.id": "id_column",
    "table.class_name": "class_column",
    "table.concepts": "concepts",
    "table.scores": "scores_column",
    "table.caption": "caption_column",
    "table.split": "split_column",
    "table.uri": "uri_column",
    "table.width": "width_column",
    "table.height": "height_column",
    "table.concept_columns": "concepts=[...]",
    "table.delimiter": "delimiter",
    "classes.categories": "class_categories",
    "classes.file": "class_file",
    "classes.captions": "class_captions",
    "classes.words": "class_words",
    "vocabulary.file": "vocabulary",
    "vocabulary.mode": "match",
    "refine.min_score": "min_score",
    "refine.min_area_px2": "min_area_px2",
    "refine.concept_table": "concept_table",
    "refine.class_names": "rename_classes",
    "refine.classes": "keep_classes",
    "refine.splits": "keep_splits",
    "limits.columns": "max_columns",
    "limits.rows": "max_rows",
    "limits.mentions": "max_mentions",
    "captions": "captions",
    "limits.table_mb": "max_table_mb",
    "limits.skipped": "max_skipped",
    "split": "split",
    "on_error": "on_error",
}
"""Keywords of `cobalance.read`, by the option of `ingest.options.ReadOptions` that they set."""

_OF_PLANS = {
    "graph_format": "format",
    "test": "test",
    "test_split": "test_split",
    "shortcuts": "shortcuts",
    "plan.groups": "groups",
    "plan.made": "made",
    "plan.words": "words",
    "plan.split": "split",
    "plan.children": "children",
    "plan.no_derivatives": "no_derivatives",
    "planner.max_per_class": "planner_options={'max_per_class': ...}",
    "planner.overshoot": "planner_options={'overshoot': ...}",
    "max_per_query": "max_per_query",
    "budget": "budget",
}

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
}


def in_python(part: Setting | Action) -> str:
    """Word a setting or an action for a notebook.

    Examples
    --------
    >>> in_python(Setting("table.id")), in_python(Setting("on_error", "skip"))
    ('id_column', "on_error='skip'")
    >>> in_python(Action("mine", "zoo", max_size=3)), in_python(Action("stop_server"))
    ("run `store['zoo'].mine(max_size=3)`", 'run `stop_server()`')
    """
    if isinstance(part, Setting):
        group, _, name = part.name.partition(".")
        if group == "masks":  # of a job
            return f"{group}={ {name: part.value or ...} }"
        return str(Setting((KEYWORDS | _OF_PLANS).get(part.name, part.name), part.value))
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
