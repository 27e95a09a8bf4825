"""Train with a method, and predict the test images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import OptionError
from cobalance.evaluation.metrics.ratios import caption_predictions
from cobalance.evaluation.predictions import LABEL, PROBABILITY, column_names
from cobalance.evaluation.training.examples import Examples, Floats, split_rows
from cobalance.evaluation.training.learners import LEARNERS
from cobalance.evaluation.training.method import Method, Run
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.model import Captioner, Model, SavableModel
from cobalance.evaluation.training.selection import READS_GROUPS, check_rule

_BATCH = 4096  # images that are predicted together
TRAINED = "trained"
"""Where in a seed's folder the model is."""


@dataclass(frozen=True)
class Trained:
    """A trained model with its predictions, and a record of its training.

    Parameters
    ----------
    model : Model or Captioner
    predictions : pandas.DataFrame
        See `predict`.
    record : mapping
        JSON values: method and learner with all options, ``seed``, ``training_images`` and
        ``validation_images`` (counts), ``selected_by`` (the rule), and whether labels of groups
        were read: ``reads_training_groups``, ``reads_validation_groups``; ``model``, with the
        selected epoch and the pretrained weights of a network.
    """

    model: Model | Captioner
    predictions: pd.DataFrame
    record: Mapping[str, Any]


@dataclass(frozen=True)
class Recipe:
    """A method and a learner by name, with their options."""

    method: str = "erm"
    method_options: Mapping[str, Any] = field(default_factory=dict)
    learner: str = "linear"
    learner_options: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Check names and options without loading anything.

        Raises
        ------
        UnknownNameError
            No method or learner has the name.
        OptionError
            An option is unknown or not allowed, or the method needs a network.
        """
        METHODS.check(self.method, self.method_options)
        LEARNERS.check(self.learner, self.learner_options)
        if METHODS[self.method].own_model:
            return
        if METHODS[self.method].network_only and not LEARNERS[self.learner].is_network:
            raise OptionError(
                f"The method {self.method} changes the loss, the outputs or the images of a "
                f"network, which the learner {self.learner} is not. Choose the learner network."
            )

    def check_images(self, training: Examples, validation: Examples | None) -> None:
        """Check, as `check` does, that these images can be trained on and selected by.

        Raises
        ------
        OptionError
            They are of one class or have several labels, their groups are unknown, or validation
            images cannot decide the rule of selection.
        """
        self.check()
        declared, name = METHODS[self.method], f"The method {self.method}"

        if training.several_labels and not declared.multi_label:
            raise OptionError(
                f"{name} takes images with one label, and these have several. "
                "Choose another method, or predict the class."
            )

        if declared.needs_groups:
            training.require_groups(name)
        if declared.needs_validation_groups and validation is not None:
            validation.require_groups(name)

        if not declared.own_model:
            training.require_two_classes()
            options = LEARNERS.check(self.learner, self.learner_options).model_dump()
            check_rule(options["select"], validation)


def train_run(
    recipe: Recipe,
    run: Run,
    training: Examples,
    validation: Examples | None,
    test: Examples,
) -> Trained:
    """Train a model and predict the test images, which select nothing.

    Raises
    ------
    OptionError
        The method or the rule of selection needs groups that are unknown, or validation images.
    """
    declared = METHODS[recipe.method]
    recipe.check_images(training, validation)
    method = METHODS.open(recipe.method, recipe.method_options)
    options = METHODS.check(recipe.method, recipe.method_options).model_dump(mode="json")

    model: Model | Captioner
    if isinstance(method, Method):
        learner = LEARNERS.open(recipe.learner, recipe.learner_options)(run).prepare(training)
        model = method.train(learner, training, validation, run)
        checked = LEARNERS.check(recipe.learner, recipe.learner_options)
        learner_options = checked.model_dump(mode="json")
        rule = str(learner_options["select"])
    else:
        model = method(training, validation, run)
        learner_options, rule = {}, str(options["select"])

    record = {
        "method": recipe.method,
        "method_options": options,
        "learner": None if declared.own_model else recipe.learner,
        "learner_options": learner_options,
        "seed": run.seed,
        "training_images": len(training),
        "validation_images": 0 if validation is None else len(validation),
        "selected_by": rule,
        "reads_training_groups": declared.needs_groups,
        "reads_validation_groups": rule in READS_GROUPS or declared.needs_validation_groups,
        "model": model.describe(),
    }
    if run.seed_folder is not None and isinstance(model, SavableModel):
        model.save(run.seed_folder / TRAINED)
    return Trained(model, predict(model, test, seed=run.seed, method=recipe.method), record)


def kept_model(recipe: Recipe, run: Run, classes: Sequence[str]) -> Model | None:
    """The model of an earlier run of this recipe, seed and folder; None where none is kept.

    Raises
    ------
    OptionError
        Its file is damaged.
    JobBlockedError
        The model is damaged, or that of its features is missing.
    """
    if run.seed_folder is None or METHODS[recipe.method].own_model:
        return None
    learner = LEARNERS.open(recipe.learner, recipe.learner_options)(run)
    model = learner.open_kept(run.seed_folder / TRAINED)
    if model is None or model.classes != tuple(classes):
        return None
    return model


def predict(model: Model | Captioner, test: Examples, *, seed: int, method: str) -> pd.DataFrame:
    """Predictions of a model.

    Returns
    -------
    pandas.DataFrame
        One row an image: ``image``, ``class_name`` (the label), ``predicted``, ``p_<class>`` for
        each class, ``seed`` and ``method``. With several labels an image, ``y_<class>`` (0 or 1)
        stands for ``class_name`` and ``predicted``. Of a captioner ``caption``, and in
        ``predicted`` the group that it names, as
        `cobalance.evaluation.metrics.ratios.caption_predictions` has it.
    """
    if isinstance(model, Captioner):
        captions = pd.DataFrame({"image": list(test.ids), "caption": model.captions(test)})
        predictions = caption_predictions(captions.assign(seed=seed, method=method), model.words)
        return predictions.drop(columns="n").assign(caption=captions["caption"])

    batches = map(test.take, split_rows(np.arange(len(test)), _BATCH))
    no_images = np.empty((0, len(test.classes)))
    probabilities: Floats = np.concatenate([no_images, *map(model.probabilities, batches)])

    frame: dict[str, Any] = {"image": list(test.ids)}
    if test.several_labels:
        frame |= dict(zip(column_names(LABEL, test.classes), test.labels.T, strict=True))
    else:
        classes = np.array(test.classes, dtype=object)
        frame["class_name"] = classes[test.labels]
        frame["predicted"] = classes[probabilities.argmax(axis=1)]
    frame |= dict(zip(column_names(PROBABILITY, test.classes), probabilities.T, strict=True))
    return pd.DataFrame(frame | {"seed": seed, "method": method})
