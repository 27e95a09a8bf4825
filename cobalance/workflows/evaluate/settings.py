"""Settings of one evaluation, as its node keeps them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from pydantic import Field

from cobalance.base import NO_LIMIT, DataError, Options, Plugin, Setting, list_extras, read_options
from cobalance.evaluation import FEATURES, LEARNERS, METHODS, Shortcuts
from cobalance.evaluation.training.run import Recipe
from cobalance.graph import GraphStore, Ranking, read_imbalances

Labels = Literal["class", "concepts"]


class Compared(TypedDict):
    """Settings that have to be equal in comparisons, as `NewEvaluation` takes them."""

    same_method: dict[str, Any]
    other_methods: dict[str, Any]


class RunSettings(Options):
    """All that decides an evaluation's result but its datasets, training set, method and seed.

    Parameters
    ----------
    preset : str
        A name in `cobalance.evaluation.training.presets.PRESETS`; what follows from it is below.
    learner, learner_options, method_options
        As `cobalance.evaluation.training.run.Recipe` takes them.
    labels : {"class", "concepts"}
        What is predicted.
    train_split, test_split : str or None
        Splits of the training and of the test dataset; None for all of their images.
    validation : str or None
        The dataset of the validation images; by default the training one.
    validation_split : str or None
        Its split; None, and no dataset named, to hold out some of the training images.
    validation_share : float
        How many of them; 0 for none.
    shortcuts : mapping
        Concepts that go with each class, by shortcut, as `cobalance.evaluation.shortcuts.Shortcuts`
        has them.
    """

    preset: str = "small"
    learner: str = "linear"
    learner_options: dict[str, Any] = Field(default_factory=dict)
    method_options: dict[str, Any] = Field(default_factory=dict)
    labels: Labels = "class"
    train_split: str | None = None
    test_split: str | None = None
    validation: str | None = None
    validation_split: str | None = None
    validation_share: float = Field(default=0.0, ge=0, lt=1)
    shortcuts: dict[str, dict[str, list[str]]] = Field(default_factory=dict)

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "RunSettings":
        """Check settings that an evaluation's node keeps; OptionError if they cannot be used."""
        return read_options(cls, settings, "The evaluation")

    def to_compare(self) -> Compared:
        """The settings that comparisons need equal.

        Of training sets: all but how many images an augmentation adds, with which those without
        generated ones catch up. Of methods: all but their own options and the validation images,
        which some select by and others do without.
        """
        settings = self.model_dump(mode="json")
        options = dict(self.method_options)
        options.pop("added", None)
        of_method = {"method_options", "validation", "validation_split", "validation_share"}
        return {
            "same_method": settings | {"method_options": options},
            "other_methods": self.model_dump(mode="json", exclude=of_method),
        }

    def recipe(self, method: str) -> Recipe:
        """The method and the learner with their options."""
        return Recipe(method, self.method_options, self.learner, self.learner_options)

    def opened_shortcuts(self) -> Shortcuts | None:
        """The shortcuts; None without any."""
        return Shortcuts(self.shortcuts) if self.shortcuts else None

    def needed_extra(self, method: str) -> str:
        """The extra that a worker needs, which has all that the others have."""
        options = LEARNERS.check(self.learner, self.learner_options).model_dump()
        plugins: list[Plugin] = [METHODS[method], LEARNERS[self.learner]]
        if "features" in options:
            plugins.append(FEATURES[options["features"]])
        # They come in an order in which each has all that those before it have.
        return ["evaluate", *list_extras(plugins)][-1]


def shortcut_settings(shortcuts: Shortcuts | None) -> dict[str, dict[str, list[str]]]:
    """Shortcuts as `RunSettings` keeps them."""
    if shortcuts is None:
        return {}
    settings: dict[str, dict[str, list[str]]] = {}
    for name, classes in shortcuts.concepts.items():
        settings[name] = {key: sorted(concepts) for key, concepts in sorted(classes.items())}
    return settings


def choose_shortcuts(
    store: GraphStore, chosen: Path | Shortcuts | Literal["none"] | None, origin: str
) -> Shortcuts | None:
    """Shortcuts as given, from a TOML file, none, or by default the concepts that lean to a class.

    Parameters
    ----------
    origin : str
        The dataset whose imbalances decide: the one that was rebalanced, since a rebalanced one
        may have none left.

    Raises
    ------
    InputError, DataError
        The file cannot be read, or no concept leans to a class.
    StaleError
        The dataset is not mined.
    """
    if chosen == "none":
        return None
    if isinstance(chosen, Shortcuts):
        return chosen
    if chosen is not None:
        return Shortcuts.from_toml(chosen)

    # Of all concepts, those that lean to a class are shortcuts.
    table = read_imbalances(store, origin, Ranking(by="gap", max_size=1, limit=NO_LIMIT))
    try:
        return Shortcuts.from_imbalances(table)
    except DataError as error:
        raise DataError(
            f"{origin!r}: {error} Set ",
            Setting("shortcuts"),
            " to such a file, or to none to go without.",
        ) from error
