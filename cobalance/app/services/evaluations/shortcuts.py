"""Shortcuts of an evaluation: from a file, or from the imbalances of the original dataset."""

from pathlib import Path
from typing import Literal

from cobalance.evaluation.shortcuts import Shortcuts
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import OptionError, Setting
from cobalance.graph.queries.imbalances import Ranking, read_imbalances

_ALL = 1_000_000  # concepts, of which those that lean to a class are shortcuts


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
    InputError, OptionError
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
    table = read_imbalances(store, origin, Ranking(by="gap", max_size=1, limit=_ALL))
    try:
        return Shortcuts.from_imbalances(table)
    except OptionError as error:
        raise OptionError(
            f"{origin!r}: {error} Set ",
            *(Setting("shortcuts"), " to such a file, or to none to go without."),
        ) from error
