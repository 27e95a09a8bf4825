"""Order evaluations: which datasets, splits, methods and seeds, checked before any is created."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from cobalance.base import OptionError, Progress, Setting, check_known, join_needs, log_run, silent
from cobalance.evaluation import METHODS, PRESETS, SETS, Preset, Run, Shortcuts
from cobalance.graph import (
    GraphStore,
    NewEvaluation,
    create_evaluations,
    dataset_state,
    json_text,
    retry_task,
    split_sizes,
)
from cobalance.graph.evaluations import reading
from cobalance.workflows.evaluate.dataset_images import read_dataset_images
from cobalance.workflows.evaluate.images import evaluation_images
from cobalance.workflows.evaluate.settings import RunSettings, choose_shortcuts, shortcut_settings

VALIDATION_SHARE = 0.2
"""Of the training images, where a method needs some held out and nothing says how many."""
_TRAIN, _TEST, _VALIDATION = ("train",), ("test",), ("validation", "val", "valid", "dev")


@dataclass(frozen=True)
class EvaluationOrder:
    """An order of evaluations.

    Parameters
    ----------
    train : tuple of str
        Datasets to train on, each by itself.
    training_sets : tuple of str
        Names in `cobalance.evaluation.training.data.registry.SETS`.
    methods : tuple of str
        Names in `cobalance.evaluation.training.methods.METHODS`.
    preset : str
        A name in `cobalance.evaluation.training.presets.PRESETS`.
    seeds : tuple of int or None
        None for 0, 1, ..., as many as the preset has.
    test : str or None
        The dataset with the test images; by default the one that the first training dataset is made
        of, or else that itself.
    train_split, test_split : str or None
        By default ``train`` and ``test`` where there are such splits.
    validation, validation_split : str or None
        Images to select by; by default the split ``validation`` or ``val`` of the training dataset
        where the method or the preset needs one and there is one, or else held-out training images.
    shortcuts : Path, Shortcuts, "none" or None
        A TOML file, or what it says; by default the concepts of the original dataset that lean to a
        class.
    learner_options, method_options : mapping
        Other options than those of the preset; a method takes those that it has.
    equal_numbers : bool
        Whether training sets get as many synthetic images each as the one with the fewest.
    again : bool
        Whether evaluations that exist already, of the same images, are ordered once more.
    """

    train: tuple[str, ...]
    training_sets: tuple[str, ...] = ("augmented",)
    methods: tuple[str, ...] = ("erm",)
    preset: str = "small"
    seeds: tuple[int, ...] | None = None
    test: str | None = None
    train_split: str | None = None
    test_split: str | None = None
    validation: str | None = None
    validation_split: str | None = None
    shortcuts: Path | Shortcuts | Literal["none"] | None = None
    learner_options: Mapping[str, Any] = field(default_factory=dict)
    method_options: Mapping[str, Any] = field(default_factory=dict)
    equal_numbers: bool = False
    again: bool = False


@dataclass(frozen=True)
class Ordered:
    """Evaluations that were ordered.

    Parameters
    ----------
    ids : tuple of str
        All of them.
    known : tuple of str
        Those that were ordered before, of the same images.
    extras : tuple of str
        What the workers of the others need.
    """

    ids: tuple[str, ...]
    known: tuple[str, ...]
    extras: tuple[str, ...]


@log_run
def order_evaluations(
    store: GraphStore,
    order: EvaluationOrder,
    *,
    created_by: str = "",
    progress: Progress = silent,
) -> Ordered:
    """Create the evaluations of an order: one for each dataset, training set, method and seed.

    What a worker would refuse is refused before any is created, but for files that are missing.

    Those that exist already are not created anew unless the order says so; of these, failed and
    cancelled ones are queued again. So an interrupted order can be repeated.

    Raises
    ------
    UnknownNameError
        There is no such method, preset or training set.
    OptionError, LeakError
        An option cannot be used, or the images cannot: see `evaluation_images`.
    NotFoundError, StaleError
        A dataset is missing or not complete, or its imbalances are asked for and it is not mined.
    """
    preset = _check_order(order)
    for name in order.train:
        dataset_state(store, name).require_complete()

    origin = reading.origin_of(store, order.train[0]) or order.train[0]
    test = order.test or origin
    splits = {name: split_sizes(store, name) for name in {*order.train, test}}
    test_split = order.test_split or _usual(splits[test], _TEST)
    _check_test(order.train, test, test_split, splits[test])

    shortcuts = shortcut_settings(choose_shortcuts(store, order.shortcuts, origin))
    checked = {
        (train, method): _settings(order, preset, method, splits[train], test_split, shortcuts)
        for train in order.train
        for method in order.methods
    }

    seeds = order.seeds or tuple(range(preset.seeds))
    synthetic = {name: reading.count_synthetic(store, name) for name in order.train}
    fewest = min(filter(None, synthetic.values()), default=None)
    most = fewest if order.equal_numbers else None

    # All images are checked before the first evaluation is created.
    read = cache(partial(read_dataset_images, store, read=lambda *_: b"", progress=progress))
    ordered: dict[tuple[str, str], list[NewEvaluation]] = {}
    for (train, method), settings in checked.items():
        ordered[train, method] = []
        for training_set in dict.fromkeys(order.training_sets):
            run_settings = settings
            if training_set == "real" or not synthetic[train]:
                run_settings = _with_equal_numbers(method, settings, fewest)
            runs = [
                NewEvaluation(
                    method,
                    seed=seed,
                    settings=run_settings.model_dump(mode="json"),
                    training_set=training_set,
                    most_synthetic=most,
                    **run_settings.to_compare(),
                )
                for seed in seeds
            ]
            evaluation_images(runs[0], train, test, run_settings, read, Run(seeds[0]))
            ordered[train, method] += runs

    return _create_missing(store, order, ordered, checked, test, created_by)


def _create_missing(
    store: GraphStore,
    order: EvaluationOrder,
    ordered: Mapping[tuple[str, str], Sequence[NewEvaluation]],
    settings: Mapping[tuple[str, str], RunSettings],
    test: str,
    created_by: str,
) -> Ordered:
    """Create evaluations unless they exist; queue failed and cancelled ones again.

    Evaluations and settings are by training dataset and method.
    """
    ids, repeated, extras = list[str](), list[str](), set[str]()
    for (train, method), evaluations in ordered.items():
        existing = {} if order.again else _find_existing(store, train, test)
        new = []
        for evaluation in evaluations:
            same = existing.get(_identity(evaluation))
            ids.append(same or evaluation.id)
            if same is None:
                new.append(evaluation)
            else:
                repeated.append(same)

        if new:
            extra = settings[train, method].needed_extra(method)
            extras.add(extra)
            create_evaluations(
                store,
                new,
                train=train,
                test=test,
                extra=join_needs(extra, METHODS.list_offered(method)),
                created_by=created_by,
            )

    # An order that is repeated goes on with what failed or was cancelled.
    for same in repeated:
        if reading.read_evaluation(store, same).state in ("failed", "cancelled"):
            retry_task(store, same)
    return Ordered(tuple(ids), tuple(repeated), tuple(sorted(extras)))


def _settings(
    order: EvaluationOrder,
    preset: Preset,
    method: str,
    sizes: Mapping[str | None, int],
    test_split: str | None,
    shortcuts: dict[str, dict[str, list[str]]],
) -> RunSettings:
    """Settings of a method on a training dataset with splits of these sizes, checked."""
    # An order of several methods has options of each; a method takes its own.
    fields = METHODS[method].options.model_fields
    options = {name: value for name, value in order.method_options.items() if name in fields}
    settings = RunSettings(
        preset=order.preset,
        learner=preset.learner,
        learner_options=dict(preset.learner_options) | dict(order.learner_options),
        method_options={**preset.method_options.get(method, {}), **options},
        labels="concepts" if preset.labels == "concepts" else "class",
        train_split=order.train_split or _usual(sizes, _TRAIN),
        test_split=test_split,
        shortcuts=shortcuts,
        **_validation(order, preset, method, sizes),
    )
    settings.recipe(method).check()

    needs = METHODS[method].needs_groups or METHODS[method].needs_validation_groups
    if needs and not settings.shortcuts and settings.labels == "class":
        raise OptionError(
            f"The method {method} needs groups, and there are no shortcuts that make them. Name "
            "them in a TOML file with ",
            Setting("shortcuts"),
            ", or leave the method out.",
        )
    return settings


def _find_existing(store: GraphStore, train: str, test: str) -> dict[object, str]:
    """Ids of evaluations of the images that two datasets have now, the newest of each."""
    existing = {}
    # They come newest first, so that the newest of several equal ones is put in last.
    for evaluation in reversed(reading.list_evaluations(store, train)):
        if (evaluation.train, evaluation.test) == (train, test) and not evaluation.outdated:
            existing[_identity(evaluation)] = evaluation.id
    return existing


def _identity(evaluation: NewEvaluation | reading.Evaluation) -> object:
    """Key that tells evaluations of the same datasets apart."""
    return (
        evaluation.method,
        evaluation.seed,
        json_text(evaluation.settings),
        evaluation.training_set,
        evaluation.most_synthetic,
    )


def _check_order(order: EvaluationOrder) -> Preset:
    """The order's preset; UnknownNameError or OptionError for an invalid order."""
    check_known("method", order.methods, list(METHODS))
    check_known("training set", order.training_sets, list(SETS))
    if not (order.train and order.methods and order.training_sets):
        raise OptionError("Name at least one dataset, one method and one training set.")
    if order.seeds is not None and (not order.seeds or min(order.seeds) < 0):
        raise OptionError("A seed is a whole number from 0 on; give one or more.")

    names = {option for name in order.methods for option in METHODS[name].options.model_fields}
    check_known("option of the methods", order.method_options, names)
    return PRESETS[order.preset]


def _with_equal_numbers(method: str, settings: RunSettings, added: int | None) -> RunSettings:
    """Settings with which an augmentation of real images sees as many as a rebalanced set has."""
    options = settings.method_options
    if added is None or "added" not in METHODS[method].options.model_fields or "added" in options:
        return settings
    return settings.model_copy(update={"method_options": {**options, "added": added}})


def _usual(sizes: Mapping[str | None, int], names: Sequence[str]) -> str | None:
    """The first of the usual names of a split that a dataset has."""
    return next((name for name in names if name in sizes), None)


def _check_test(
    train: Sequence[str], test: str, split: str | None, sizes: Mapping[str | None, int]
) -> None:
    """Raise OptionError unless the test dataset has images that are no training images."""
    splits = ", ".join(repr(name) for name in sizes if name is not None) or "none"
    if split is not None and split not in sizes:
        raise OptionError(
            f"{test!r} has no split {split!r}. Its splits: {splits}. Name one of them with ",
            Setting("test_split"),
            ", or another dataset with ",
            Setting("test"),
            ".",
        )
    if split is None and test in train:
        raise OptionError(
            f"{test!r} has no split 'test' (its splits: {splits}), so there is nothing to test on. "
            "Name a split with ",
            Setting("test_split"),
            ", or a dataset of test images with ",
            Setting("test"),
            ".",
        )


def _validation(
    order: EvaluationOrder, preset: Preset, method: str, sizes: Mapping[str | None, int]
) -> dict[str, Any]:
    """Where an evaluation's validation images come from, as `RunSettings` has it."""
    if order.validation is not None or order.validation_split is not None:
        return {"validation": order.validation, "validation_split": order.validation_split}

    # A method with a model of its own has its own rule of selection, too.
    plugin = METHODS[method]
    select = {**preset.learner_options, **order.learner_options}.get("select", "last")
    if plugin.own_model:
        select = order.method_options.get("select", select)
    by_default = plugin.needs_validation and "select" not in order.method_options
    needed = plugin.needs_validation_groups or by_default or select != "last"
    if not needed and not preset.validation_share:
        return {}

    split = _usual(sizes, _VALIDATION)
    if split is not None:
        return {"validation_split": split}
    return {"validation_share": preset.validation_share or VALIDATION_SHARE}
