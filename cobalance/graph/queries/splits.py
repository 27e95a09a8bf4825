"""Compare the imbalances of two splits of a dataset in the store."""

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import MAX_CLIQUES
from cobalance.graph.dataset.names import split_sizes
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.diagnosis.splits import MAX_Q_VALUE, ComparedSplits
from cobalance.graph.errors import OptionError, UnknownNameError
from cobalance.graph.names import clean_name


def compare_dataset_splits(
    store: GraphStore,
    dataset: str,
    first: str,
    second: str,
    *,
    max_size: int | None = None,
    max_q_value: float = MAX_Q_VALUE,
    max_cliques: int = MAX_CLIQUES,
) -> ComparedSplits:
    """Compare two splits of a dataset, by the cliques of both together.

    They are mined as the dataset was last, whether or not that was of one split.

    Parameters
    ----------
    first, second : str
        The splits, such as ``train`` and ``val``.
    max_size : int, optional
        Of the cliques; by default as the dataset was mined.
    max_q_value : float
        Of an imbalance that holds in a split.
    max_cliques : int
        Give up above this many.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    UnknownNameError
        It has no image of a split.
    OptionError
        Both are the same split, or a number is out of range.
    TooManyCliquesError
        There are more than `max_cliques`.
    """
    state = dataset_state(store, dataset)
    state.require_complete()
    first, second = clean_name(first), clean_name(second)
    if first == second:
        raise OptionError(f"{first!r} is named twice. Give two different splits.")
    images = load_incidence(store, dataset, first), load_incidence(store, dataset, second)
    for name, part in zip((first, second), images, strict=True):
        if not len(part.labels):
            known = [split for split in split_sizes(store, dataset) if split is not None]
            raise UnknownNameError("split", name, known)
    options = state.mining_options()
    return ComparedSplits.of(
        (first, second),
        images,
        max_size=options.max_size if max_size is None else max_size,
        min_support=options.min_support,
        common=options.common,
        max_q_value=max_q_value,
        max_cliques=max_cliques,
    )
