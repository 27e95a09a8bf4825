"""The store of this process, the chosen dataset, its names, and cached reads of the graph.

Reads are cached under the state of the dataset, so that a page never shows numbers of an older
state, and ten users share one read.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, cast

import pandas as pd
import streamlit as st

from cobalance.app.web.server.streamlit_internals import correct_parameter, fragments_drawn
from cobalance.base import NO_LIMIT, DataError, T, UnknownNameError
from cobalance.counting import MiningOptions
from cobalance.graph import (
    DatasetProgress,
    DatasetState,
    GraphStore,
    Node,
    class_sizes,
    comparison_of,
    dataset_progress,
    dataset_state,
    list_datasets,
    read_saved,
)
from cobalance.graph.database import schema
from cobalance.workflows import Settings, open_store

# The query parameter, and the key of the widget that is bound to it.
DATASET = "dataset"
_CHOICE = "_chosen_dataset"
# The dataset as it was read in this run, with the choices that it was read for.
_CURRENT = "_current_dataset"
# The query parameter of the concept that a person compares by, and these by dataset.
COMPARE_BY, _COMPARED = "compare_by", "_compared_by"
OWN_CLASSES = " "
"""In place of a concept, whose name is never blank: to compare by the dataset's own classes."""
_QUERIES: dict[str, tuple[str, dict[str, int]]] = {
    schema.CLASS.label: ("classes", {}),
    schema.CONCEPT.label: ("concepts", {"limit": NO_LIMIT}),
    schema.PLAN.label: ("plans", {}),
}


_opening = Lock()
_opened: list[GraphStore] = []  # the store, if it is open


def settings() -> Settings:
    """The settings of the process that serves the pages."""
    return Settings.from_environment()


def store() -> GraphStore:
    """The store of this process, opened once."""
    with _opening:
        if not _opened:
            with st.spinner("Opening the database; a local one takes some seconds to start"):
                _opened.append(open_store(settings()))
        return _opened[0]


def forget_store() -> None:
    """Forget the connection, so that the next use opens a new one."""
    with _opening:
        _opened.clear()


def datasets() -> pd.DataFrame:
    """All datasets, see `cobalance.graph.dataset.state.list_datasets`."""
    return list_datasets(store())


def choose(name: str) -> None:
    """Choose a dataset for all pages, from the next run on."""
    st.session_state[_CHOICE] = name


def apply_choice(names: Sequence[str], first: Callable[[Sequence[str]], str] | None = None) -> None:
    """Set the chosen dataset, before the widget that shows it is drawn.

    It is that of `choose`; else the user's own choice, or the URL's; else what `first` gives, or
    the first one.
    """
    name = st.session_state.pop(_CHOICE, None)
    if name in names:
        st.session_state[DATASET] = name
        correct_parameter(DATASET, name)
        return
    if {st.session_state.get(DATASET), st.query_params.get(DATASET)}.intersection(names):
        return

    name = names[0] if first is None else first(names)
    # Streamlit allows it as long as the widget was never drawn.
    if DATASET not in st.session_state:
        st.query_params[DATASET] = name
    st.session_state[DATASET] = name


@dataclass(frozen=True)
class CurrentDataset:
    """The chosen dataset in its present state, which is read once in a run, with cached reads.

    `state` has the concept that the user compares by, `compared_by_all` the one that others see
    unless they choose another; empty for its classes.
    """

    store: GraphStore
    state: DatasetState
    compared_by_all: str = ""

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.state.name

    @property
    def is_mined(self) -> bool:
        """Whether its cliques can be read."""
        return self.state.is_mined

    @property
    def mining(self) -> MiningOptions:
        """The options that it was last mined with."""
        return self.state.mining_options()

    def read(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Return ``function(store, dataset, *arguments, **named)``, cached for this state."""
        name = f"{function.__module__}.{function.__qualname__}"
        return self.keep(
            lambda: function(self.store, self.name, *arguments, **named), name, arguments, named
        )

    def keep(self, make: Callable[[], T], *key: Any) -> T:
        """Return ``make()``, cached for this state and a key, whose first part names it."""
        return cast(T, _cached(make, self.state, key))

    @cached_property
    def class_sizes(self) -> dict[str, int]:
        """Images of each class that has any, of the split that was mined."""
        if self.is_mined:
            return dict(self.state.mined_classes)
        return {name: images for name, images in self.read(class_sizes).items() if images}

    @cached_property
    def progress(self) -> DatasetProgress:
        """How far the dataset is, which changes without its state."""
        return dataset_progress(self.store, self.name)


def begin_run() -> None:
    """Have the dataset's state read anew, at the very start of a run of the whole page."""
    st.session_state.pop(_CURRENT, None)


def current() -> CurrentDataset:
    """The dataset that the user has chosen, with its state read once in a run.

    Raises
    ------
    NotFoundError
        It has been dropped or renamed since.
    """
    # Fragments that refresh by themselves follow what changes.
    if fragments_drawn():
        return _read_current()

    choice = st.session_state[DATASET], st.query_params.get(COMPARE_BY)
    of_run = st.session_state.get(_CURRENT)
    if of_run is None or of_run[0] != choice:
        of_run = st.session_state[_CURRENT] = choice, _read_current()
    return cast(CurrentDataset, of_run[1])


def _read_current() -> CurrentDataset:
    stored = dataset_state(store(), st.session_state[DATASET])
    view = _compared_by_user(stored)
    if view is None:
        return CurrentDataset(store(), stored, "".join(stored.compared[:1]))
    return CurrentDataset(view, dataset_state(view, stored.name), "".join(stored.compared[:1]))


def _compared_by_user(stored: DatasetState) -> GraphStore | None:
    """The store as read by who compares a dataset by another concept than others; None for as all.

    The choice is the URL's. Beyond the page that draws it, it counts for a dataset without classes.
    """
    concept = st.query_params.get(COMPARE_BY)
    if concept is None and len(stored.own_classes) == 1:
        concept = st.session_state.get(_COMPARED, {}).get(stored.name)
    if concept is None or not stored.is_mined:
        return None

    st.session_state.setdefault(_COMPARED, {})[stored.name] = concept
    # A concept of another dataset is none of this one's.
    with suppress(UnknownNameError, DataError):
        return _reading(store(), stored, concept)
    return None


@lru_cache(maxsize=16)
def _reading(opened: GraphStore, stored: DatasetState, concept: str) -> GraphStore:
    """The store with a dataset that is compared by a concept, or by its own classes."""
    concepts = [] if concept == OWN_CLASSES else [concept]
    return opened.reading(stored.name, comparison_of(opened, stored, concepts))


def image_roots(dataset: str | None = None) -> tuple[str, ...]:
    """Where image files of a dataset are, by default of the one that the user has chosen."""
    return settings().folders().image_roots(dataset or st.session_state.get(DATASET))


@st.cache_data(show_spinner=False, max_entries=512)
def _cached(_make: Callable[[], Any], state: DatasetState, key: tuple[Any, ...]) -> Any:  # noqa: ARG001
    return _make()


def names_of(current: CurrentDataset, node: Node) -> list[str]:
    """The names of a dataset's classes, concepts or plans, in ascending order."""
    # A plan is written without a change of the dataset's state, under which reads are cached.
    if node is schema.PLAN:
        frame = read_names(current.store, current.name, node.label)
    else:
        frame = current.read(read_names, node.label)
    return sorted(frame[node.label.lower()])


def read_names(store: GraphStore, dataset: str, label: str) -> pd.DataFrame:
    """The frame of the saved query that lists a kind of node.

    Raises
    ------
    StaleError
        An ingest of the dataset did not end.
    """
    name, parameters = _QUERIES[label]
    return read_saved(store, name, dataset=dataset, **parameters)
