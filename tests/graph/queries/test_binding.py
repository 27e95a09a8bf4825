"""Names are checked and nothing stale is read, in as few round trips as that takes."""

import pytest

from cobalance.base.errors import NotFoundError, StaleError, UnknownNameError
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database import schema
from cobalance.graph.dataset.names import check_names
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.imbalances import Ranking, read_imbalances


@pytest.fixture
def reads(store, monkeypatch):
    """The texts of all reads that the store is asked for from here on."""
    texts = []

    def counted(way):
        def ask(text, **parameters):
            texts.append(text)
            return way(text, **parameters)

        return ask

    for name in ("stream", "read_frame"):  # `read` goes through `stream`
        monkeypatch.setattr(store, name, counted(getattr(store, name)))
    return texts


@pytest.fixture
def mined(load, random_annotations):
    return load(random_annotations(60), MiningOptions(max_size=2))


def test_state_and_names_are_one_read(store, mined, reads):
    given = {"dataset": mined, "concepts": ["concept 0", "concept 1"], "class": "class 1"}
    query, bound = bind_named(store, "images-of-clique", given)
    assert len(reads) == 1
    store.read(query.text, **bound)
    assert len(reads) == 2


def test_imbalances_are_two_reads(store, mined, reads):
    read_imbalances(store, mined, Ranking(concepts=("concept 0",), class_name="class 1"))
    assert len(reads) == 2


def test_the_first_unknown_name_is_told_with_the_known_ones(store, mined):
    given = {"dataset": mined, "concepts": ["concept 0", "conc"], "class": "class 9"}
    with pytest.raises(UnknownNameError, match=r"unknown concept 'conc'.* Known: .*concept 0"):
        bind_named(store, "images-of-clique", given)
    with pytest.raises(UnknownNameError, match=r"unknown class 'class 9'.* Known: class 0, cl"):
        check_names(store, mined, {schema.CONCEPT: ["concept 0"], schema.CLASS: ["class 9"]})
    check_names(store, mined, {schema.CONCEPT: [], schema.CLASS: ["class 1"]})


def test_the_state_comes_before_the_names(store, dataset, load, random_annotations):
    with pytest.raises(NotFoundError, match="There is no dataset"):
        bind_named(store, "clique", {"dataset": dataset, "concepts": ["no such"]})
    load(random_annotations(5))
    with pytest.raises(StaleError, match="has not been mined yet"):
        bind_named(store, "clique", {"dataset": dataset, "concepts": ["no such"]})
