"""What differs between two splits of a dataset, on the page Compare."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.state import session
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import list_datasets
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.cells import ARROW
from tests.app.conftest import OpenPage, WriteDataset, shown_text

MORE = [
    ("country", ("cow", "field"), 40),
    ("country", ("sign",), 10),
    ("urban", ("cow", "field"), 45),
    ("urban", ("sign",), 5),
]


def tables(app: AppTest) -> list[pd.DataFrame]:
    """All tables of the page by the clique of a row."""
    frames = [element.value for element in app.dataframe if "concepts" in element.value]
    return [frame.set_index(frame["concepts"].map(" + ".join)) for frame in frames]


@pytest.fixture
def two_splits(dataset: str, store: GraphStore) -> str:
    """Cows lean to country in one split, and to urban in the other; roads to neither."""
    rows = [
        ("train", "country", 8),
        ("train", "urban", 2),
        ("v*a*l", "country", 2),
        ("v*a*l", "urban", 9),
    ]
    records = [
        ImageRecord(
            f"{split} {name} {i}",
            name,
            (Mention("cow"), Mention("road")) if i < cows else (Mention("road"),),
            split=split,
        )
        for split, name, cows in rows
        for i in range(10)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=100)
    return dataset


def test_two_splits_of_the_only_dataset(
    open_page: OpenPage, two_splits: str, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = list_datasets(store).query("dataset == @two_splits")
    monkeypatch.setattr(session, "datasets", lambda: alone)
    app = open_page("compare", dataset=two_splits)
    assert not app.exception
    (shown,) = tables(app)
    assert shown.loc["cow", "class 0"] == f"80.0% {ARROW} 20.0%"
    assert shown.loc["cow", "class 1"] == f"20.0% {ARROW} 90.0%"
    assert shown.loc["cow", "holds"] == "the other way round"
    assert shown.loc["road", ["holds", "difference", "q-value"]].tolist() == [
        "neither",
        "-",
        "1.000",
    ]
    assert "1 differ between" not in shown_text(app)
    assert app.query_params["compare_what"] in ("Two splits", ["Two splits"])
    app.button_group(key="split_holds").set_value(["opposite"]).run()
    assert tables(app)[0].index.tolist() == ["cow", "cow + road"]
    app.button_group(key="split_holds").set_value(["both"]).run()
    assert not app.exception
    assert "No clique does" in shown_text(app)


def test_splits_are_a_choice_beside_datasets(
    open_page: OpenPage, two_splits: str, write_dataset: WriteDataset
) -> None:
    later = write_dataset(f"{two_splits} renamed", MORE)
    link = {"dataset": two_splits, "compare_after": later}
    app = open_page("compare", **link)
    assert not app.exception
    assert app.selectbox(key="compare_after").value == later
    assert app.query_params["compare_what"] in ("Two datasets", ["Two datasets"])
    app = open_page("compare", **link, compare_what="Two splits", split_first="v*a*l")
    assert not app.exception
    assert app.selectbox(key="split_second").options == ["train"]
    assert tables(app)[0].loc["cow", "class 0"] == f"20.0% {ARROW} 80.0%"
    app.selectbox(key="split_first").set_value("train").run()
    assert not app.exception
    assert app.selectbox(key="split_second").value == "v*a*l"
