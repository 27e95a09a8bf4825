"""Load and mine the demonstration dataset."""

from app.demo import NAME, urbancars
from graph.database.store import GraphStore
from graph.dataset.mining import mine_dataset
from graph.dataset.mining_options import MiningOptions
from graph.dataset.state import dataset_state
from graph.dataset.write import write_annotations
from graph.errors import DatasetNotFoundError, StaleError
from graph.progress import Progress
from graph.records import Annotations


def load_demo(store: GraphStore, progress: Progress, *, street: bool = False) -> None:
    """Load and mine UrbanCars; a repeated call changes nothing."""
    annotations = Annotations.from_records(urbancars(street=street))
    write_annotations(store, NAME, annotations, source="UrbanCars training set", progress=progress)
    mine_dataset(store, NAME, MiningOptions(), max_cliques=10_000, progress=progress)


def ensure_demo(store: GraphStore, progress: Progress) -> None:
    """Load and mine UrbanCars unless the store has it."""
    try:
        dataset_state(store, NAME).require_mined()
    except (DatasetNotFoundError, StaleError):
        load_demo(store, progress)
