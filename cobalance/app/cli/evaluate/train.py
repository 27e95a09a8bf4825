"""`cobalance evaluate train`: order evaluations, or run them here."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from cobalance.app.cli.evaluate.options import options_of, say_failures
from cobalance.app.cli.shared import (
    Assignments,
    Name,
    clean_names,
    notes,
    opened_store,
    out,
    read_environment,
)
from cobalance.base import inflect, install_command, needs_extra, plugins
from cobalance.evaluation import FEATURES, METHODS, PRESETS, SETS
from cobalance.graph.evaluations import reading
from cobalance.workflows.evaluate import order as ordering


def train(
    datasets: Annotated[
        list[str],
        typer.Argument(
            metavar="DATASET...",
            help="Datasets to train on, each by itself, such as one and what `cobalance "
            "rebalance` made of it.",
            callback=clean_names,
        ),
    ],
    method: Annotated[
        list[str] | None,
        f"How to train: {', '.join(METHODS)}. Repeat it. Default: erm.",
    ] = None,
    preset: Annotated[str, f"A set of settings: {', '.join(PRESETS)}."] = "small",
    seed: Annotated[
        list[int] | None, "Random seed. Repeat it. Default: 0, 1, ..., as many as the preset has."
    ] = None,
    training_set: Annotated[
        list[str] | None,
        f"Which images of the datasets: {', '.join(SETS)}. Repeat it. Default: "
        "augmented, all of them.",
    ] = None,
    test: Annotated[
        Name, "The dataset with the test images. Default: the one that was rebalanced."
    ] = None,
    test_split: Annotated[Name, "Its split to test on. Default: test, if it has one."] = None,
    train_split: Annotated[Name, "The split to train on. Default: train, if any."] = None,
    validation: Annotated[
        Name, "The dataset with images to select by. Default: the training dataset."
    ] = None,
    validation_split: Annotated[
        Name,
        "Its split. Default: validation or val where the method or preset needs one, or else a "
        "share of the training images.",
    ] = None,
    shortcuts: Annotated[
        Path | None,
        "A TOML file of shortcuts, which make the groups; `none` for none. Default: the "
        "concepts of the original dataset that lean to a class.",
    ] = None,
    features: Annotated[
        str | None,
        f"Image features: {', '.join(FEATURES)}. Frozen, of the linear model.",
    ] = None,
    setting: Annotated[
        Assignments,
        "An option of learner or method, such as learner.epochs=50 or method.refits=20. Repeat it.",
    ] = None,
    equal_numbers: Annotated[
        bool, "Train on as many synthetic images of each dataset as the one with the fewest has."
    ] = False,
    again: Annotated[
        bool, "Order evaluations once more that exist already, of the same images."
    ] = False,
    here: Annotated[bool, "Work now, in this process, until they have ended."] = False,
) -> None:
    """Order evaluations: a model for each dataset, method and seed, tested on the same images.

    Workers train, predict and score them; --here runs them at once. Print their ids. Repeated, the
    command goes on with what is left.
    """
    options = options_of(setting, ("learner", "method"))
    learner = dict(options["learner"])
    if features is not None:
        learner["features"] = features
    order = ordering.EvaluationOrder(
        train=tuple(dict.fromkeys(datasets)),
        training_sets=tuple(dict.fromkeys(training_set or ["augmented"])),
        methods=tuple(dict.fromkeys(method or ["erm"])),
        preset=preset,
        seeds=tuple(dict.fromkeys(seed or ())) or None,
        test=test,
        train_split=train_split,
        test_split=test_split,
        validation=validation,
        validation_split=validation_split,
        shortcuts="none" if str(shortcuts) == "none" else shortcuts,
        learner_options=learner,
        method_options=options["method"],
        equal_numbers=equal_numbers,
        again=again,
    )
    # Packages that are missing stop the command before anything is ordered.
    if here:
        with needs_extra("Running evaluations", "worker"):
            from cobalance.workflows import run_here

    with opened_store() as (store, progress):
        ordered = ordering.order_evaluations(store, order, progress=progress)
        for evaluation in ordered.ids:
            out.print(evaluation)

        ended = []
        if here:
            settings = read_environment()
            run_here(settings, ordered.ids, settings.queue_url(), progress)
            ended = [reading.read_evaluation(store, evaluation) for evaluation in ordered.ids]
            say_failures(ended)

    if ordered.known:
        notes.print(
            f"{len(ordered.known):,} of {len(ordered.ids):,} were ordered before; --again orders "
            "them once more."
        )

    next_command = f"cobalance evaluate show {quote(datasets[0])}"
    if not here:
        _note_ordered(ordered, next_command)
    else:
        notes.print(f"{inflect(len(ordered.ids), 'evaluations')} ended. Next: {next_command}")
        if any(evaluation.state != "done" for evaluation in ended):
            raise typer.Exit(1)


def _note_ordered(ordered: "ordering.Ordered", next_command: str) -> None:
    """Note how workers run the evaluations, and which extras they need."""
    evaluations = inflect(len(ordered.ids), "evaluations")
    notes.print(f"{evaluations} ordered. Next: cobalance work --until-idle; then: {next_command}")
    for extra in ordered.extras:
        if not plugins.is_installed(extra):
            notes.print(
                f"They need the extra {extra}, which is not installed here; workers need it: "
                f"{install_command(f'worker,{extra}')}"
            )
