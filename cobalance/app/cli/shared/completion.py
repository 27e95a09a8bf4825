"""Complete names in a shell, from a file that commands write when they close the store."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from cobalance.app.cli.shared.deferred import imports_deferred
from cobalance.base import CobalanceError, make_folder, mask_credentials

if TYPE_CHECKING:
    from cobalance.graph import GraphStore

_FRESH_S = 60
_KINDS = {
    "datasets": "DATASET OTHER DATASET... [DATASET] --dataset --compare --test --validation",
    "concepts": "--concept --object",
    "classes": "--class --common --keep-class",
    "plans": "--plan",
    "jobs": "JOB --continue",
    "tasks": "JOB EVALUATION EVALUATION... --evaluation",
    "runs": "RUN --run-real --run-generated",
}
"""What is completed by the names of a kind in the store: arguments, as help has them, and options;
some have two kinds."""
_REGISTRIES = {
    "--annotator": "annotation.annotators.ANNOTATORS",
    "--backend": "generation.backends.BACKENDS",
    "--features": "evaluation.training.features.FEATURES",
    "--filter": "generation.filters.FILTERS",
    "--input-format": "ingest.formats.FORMATS",
    "--method": "evaluation.training.methods.METHODS",
    "--metric": "evaluation.metrics.METRICS",
    "--planner": "generation.planning.planners.registry.PLANNERS",
    "--recipe": "generation.recipes.RECIPES",
    "--training-set": "evaluation.training.data.registry.SETS",
    "cobalance export --as": "generation.export.formats.EXPORTERS",
    "cobalance datasets export-graph --as": "workflows.export_graph.FORMATS",
    "cobalance evaluate export --as": "evaluation.reports.REPORTS",
    "cobalance evaluate train --preset": "evaluation.training.presets.PRESETS",
}
"""What is completed by the names in registries; after a command where that decides."""


def keep_names(store: "GraphStore", home: Path) -> None:
    """Write the names that people may type next; a home that cannot be written has none.

    Those of a minute ago stay if the command has written nothing.
    """
    from cobalance.graph import NAMES, write_private

    with suppress(CobalanceError, OSError):
        file = home / "names.json"
        names = _read(file)
        is_known = _store() in names and not store.has_written
        if is_known and file.stat().st_mtime > time() - _FRESH_S:
            return

        rows = store.read(NAMES.text)
        make_folder(home)
        write_private(file, json.dumps(names | {_store(): rows}, ensure_ascii=False))


def complete_names(command: Any) -> None:
    """Have the arguments and options of a command, or of all in a group, complete names."""
    for inner in getattr(command, "commands", {}).values():
        complete_names(inner)

    for parameter in command.params:
        words = (parameter.metavar or "", *parameter.opts)
        kinds = [kind for kind, completed in _KINDS.items() if {*completed.split()} & {*words}]
        # Typer itself takes a completer only where a parameter is declared.
        if kinds or any(key.rpartition(" ")[2] in words for key in _REGISTRIES):
            parameter._custom_shell_complete = _completer(words, kinds)
        elif parameter.name == "query":
            parameter._custom_shell_complete = _saved_query


def _completer(words: Sequence[str], kinds: Sequence[str]) -> Callable[..., list[str]]:
    """Complete the names of registries and of some kinds in the store, for Click."""

    def complete(context: Any, _parameter: Any, incomplete: str) -> list[str]:
        keys = [*words, *(f"{context.command_path} {word}" for word in words)]
        registries = [_REGISTRIES[key] for key in keys if key in _REGISTRIES]
        names = list(chain.from_iterable(map(registered, registries)))

        # Concepts, plans and classes are those of the dataset that is typed already: an option, or
        # the first word, which Click may have left unparsed.
        arguments = [p for p in context.command.params if p.param_type_name == "argument"]
        dataset = context.params.get("dataset")
        if not dataset and context.args and arguments and arguments[0].name == "dataset":
            dataset = context.args[0]
        names += _names(kinds, dataset)
        return [_typed(name) for name in dict.fromkeys(names) if name.startswith(incomplete)]

    return complete


def registered(place: str) -> Iterable[str]:
    """The registry of a place in `cobalance`, whose parents may be slow to import."""
    module, _, name = place.rpartition(".")
    with imports_deferred():
        registry = import_module(f"cobalance.{module}")
    return getattr(registry, name)


def _saved_query(_context: Any, _parameter: Any, incomplete: str) -> list[str]:
    from cobalance.graph import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


def _names(kinds: Sequence[str], dataset: str | None) -> Iterator[str]:
    """Names of some kinds, of a dataset where it is known."""
    if not kinds:
        return
    home = os.environ.get("COBALANCE_HOME")
    if home is None:
        import platformdirs

        home = platformdirs.user_data_dir("cobalance")

    rows = _read(Path(home).expanduser() / "names.json").get(_store(), [])
    dataset_rows = [row for row in rows if row["datasets"] == dataset] or rows
    for kind in kinds:
        if kind == "datasets":
            yield from (row[kind] for row in rows)
        else:
            yield from chain.from_iterable(row[kind] for row in dataset_rows)


def _typed(name: str) -> str:
    """A name as bash has to have it; other shells quote it themselves."""
    if os.environ.get("_COBALANCE_COMPLETE") != "complete_bash":
        return name
    return re.sub(r"([^\w@%+=:,./-])", r"\\\1", name)


def _store() -> str:
    """Identify the store of the environment."""
    uri, database = (os.environ.get(name, "") for name in ("NEO4J_URI", "NEO4J_DATABASE"))
    return f"{mask_credentials(uri)}/{database}"


def _read(file: Path) -> dict[str, Any]:
    """Read the names of all stores; empty if the file cannot be read."""
    with suppress(OSError, ValueError):
        names = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(names, dict):
            return names
    return {}
