"""Load and mine the demonstration datasets."""

from cobalance.base import Annotations, Progress, needs_extra
from cobalance.counting import MiningOptions
from cobalance.graph import GraphStore, find_dataset, mine_dataset, write_annotations
from cobalance.workflows.demo.removal import claim_name
from cobalance.workflows.demo.urbancars import NAME, urbancars
from cobalance.workflows.settings import Settings


def load_demo(store: GraphStore, progress: Progress) -> None:
    """Load and mine UrbanCars; a repeated call changes nothing."""
    claim_name(store, NAME)
    annotations = Annotations.from_records(urbancars())
    write_annotations(store, NAME, annotations, source="UrbanCars training set", progress=progress)
    mine_dataset(store, NAME, MiningOptions(), max_cliques=10_000, progress=progress)


def ensure_demo(store: GraphStore, progress: Progress) -> None:
    """Load and mine UrbanCars unless the store has it."""
    if not _is_mined(store, NAME):
        load_demo(store, progress)


def ensure_digits(store: GraphStore, settings: Settings, progress: Progress) -> None:
    """Load and mine the digits of the first seed unless the store has them.

    Raises
    ------
    MissingExtraError
        scikit-image or scikit-learn is not installed.
    OptionError
        The output folder is not on this machine.
    """
    with needs_extra("The example with pictures", "demo"):
        from cobalance.workflows.demo import draw_digits
        from cobalance.workflows.demo.runner import Runner, load_digits
    if not _is_mined(store, draw_digits.NAME):
        progress("draw digits", 0, None)
        runner = Runner(store, settings, progress)
        load_digits(runner, draw_digits.NAME, draw_digits.make_training_digits(0))


def _is_mined(store: GraphStore, name: str) -> bool:
    state = find_dataset(store, name)
    return state is not None and state.is_mined
