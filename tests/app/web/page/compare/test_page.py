"""The page Compare: what became of each imbalance, and what cannot be compared."""

import io

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.state import session
from cobalance.app.web.widgets.labels import shorten
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import list_datasets
from cobalance.graph.jobs import statements
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.statistics.comparison import COUNT_STATUSES
from cobalance.workflows.cells import to_csv
from tests.app.conftest import OpenPage, WriteDataset, shown_text, stories

MORE = [
    ("country", ("cow", "field"), 6),
    ("country", ("cow", "road"), 3),
    ("country", ("sign", "road"), 6),
    ("urban", ("sign", "road"), 5),
    ("urban", ("cow", "field"), 6),
    ("urban", ("dog",), 2),
    ("country", ("dog",), 9),
]


@pytest.fixture
def later(cars: str, write_dataset: WriteDataset) -> str:
    """Signs lean less, dogs are new, and no image shows an alley."""
    return write_dataset(f"{cars} renamed", MORE)  # dropped with the first


def table(app: AppTest) -> pd.DataFrame:
    frame = app.dataframe[0].value
    return frame.set_index(frame["concepts"].map(" + ".join))


def test_with_one_dataset_it_says_how_to_get_another(
    open_page: OpenPage, cars: str, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = list_datasets(store).query("dataset == @cars")  # the server may have others
    monkeypatch.setattr(session, "datasets", lambda: alone)
    app = open_page("compare", dataset=cars)
    assert not app.exception
    assert "only one dataset" in shown_text(app)


def test_a_combination_s_details_are_of_either_version(
    open_page: OpenPage, cars: str, later: str
) -> None:
    def difference(**version: str) -> str:
        app = open_page("compare", dataset=cars, compare_after=later, images='["cow"]', **version)
        assert not app.exception
        return str({one.label: one.value for one in app.metric}["Rate difference"])

    assert difference().startswith("+80.0%")  # 9 of 10 and 1 of 10
    assert difference(images_version="After").startswith("+8.7%")  # 6 of 13 and 9 of 24


def test_what_became_of_each_gap(open_page: OpenPage, cars: str, later: str) -> None:
    app = open_page("compare", dataset=cars, compare_after=later, compare_counts="true")
    assert not app.exception
    shown = table(app)
    assert shown["status"].to_dict() == {
        "cow": "reduced",
        "sign": "reduced",
        "dog": "introduced",
        "cow + field": "solved",
        "field": "solved",
        "road + sign": "reduced",
        "road": "grown",
        "cow + road": "unchanged",
    }
    assert shown.loc["cow", ["gap_before", "gap_after", "delta"]].tolist() == [8, 3, -5]
    assert shown.loc["cow", "class 1"] == "1 → 6"
    totals = {metric.label: metric.value for metric in app.metric}
    assert totals["Sum of gaps"] == f"{shown['gap_before'].sum()} → {shown['gap_after'].sum()}"
    statuses = next(one.value for one in app.dataframe if "cliques" in one.value)
    of_each = dict(zip(statuses["of"], statuses["cliques"].tolist(), strict=True))
    assert of_each == {name: (shown["status"] == name).sum() for name in COUNT_STATUSES}


@pytest.fixture
def evened(dataset: str, write_dataset: WriteDataset) -> tuple[str, str]:
    """Cows in 80 and 10 of 100 images; then in as many. Dogs stay, birds are new."""
    write_dataset(
        dataset,
        [
            ("country", ("cow",), 80),
            ("country", ("dog",), 20),
            ("urban", ("cow",), 10),
            ("urban", ("dog",), 60),
            ("urban", ("bird",), 5),
            ("urban", (), 25),
            ("country", ("bird",), 4),
        ],
    )
    later = write_dataset(
        f"{dataset} renamed",
        [
            ("country", ("cow",), 80),
            ("country", ("dog",), 20),
            ("urban", ("cow",), 78),
            ("urban", ("dog",), 98),
            ("urban", ("bird",), 25),
            ("country", ("bird",), 4),
        ],
    )
    return dataset, later


def test_what_became_of_each_lean(open_page: OpenPage, evened: tuple[str, str]) -> None:
    """The sentence, the measures and the rows speak of rates, and say what chance explains."""
    before, after = evened
    app = open_page("compare", dataset=before, compare_after=after)
    assert not app.exception
    shown = table(app)
    assert shown["status"].to_dict() == {
        "cow": "weaker",
        "dog": "within noise",
        "bird": "new",
    }
    # 80 of 104 and 10 of 100; then 78 of 201.
    assert shown.loc["cow", "difference"] == f"{80 / 104 - 0.1:.1%} → {80 / 104 - 78 / 201:.1%}"
    assert shown.loc["cow", "class 1"] == f"10.0% → {78 / 201:.1%}"
    assert shown.loc["bird", "leans_to"] == "urban"
    totals = {metric.label: metric.value for metric in app.metric}
    assert totals["Lean to a class"] == "2 → 3"
    (change,) = [one.delta for one in app.metric if one.label == "Largest difference"]
    points = 100 * (78 / 201 - 0.1)  # of the change of cows in urban, country stays
    assert change == f"−{points:.1f} points"
    sums = (80 / 104 - 0.1) + (0.6 - 20 / 104), (80 / 104 - 78 / 201) + (98 / 201 - 20 / 104)
    assert totals["Rate differences"] == f"{sums[0]:.2f} → {sums[1]:.2f}"
    assert "of 1 bit" in totals["Concepts alone tell"]
    (sentence,) = (one.value.replace("\\", "") for one in app.header)
    assert sentence.startswith("3 of 3 combinations lean to a class; 2 did.")
    (sent,) = stories(app)
    largest = 80 / 104 - 0.1, 98 / 201 - 20 / 104
    assert [step["name"].partition("\n")[2] for step in sent["steps"]] == [
        f"2 lean, most {largest[0]:.1%}",
        f"3 lean, most {max(largest[1], 80 / 104 - 78 / 201):.1%}",
    ]


def test_the_graph_has_steps_and_the_link_names_one(
    open_page: OpenPage, cars: str, later: str
) -> None:
    """Of two datasets without a job the first and the second, at their own rates."""
    app = open_page("compare", dataset=cars, compare_after=later, step="after")
    assert not app.exception
    (sent,) = stories(app)
    assert [(step["id"], step["name"].partition("\n")[0]) for step in sent["steps"]] == [
        ("dataset", "Dataset"),
        ("after", shorten(later, 40)),
    ]
    assert sent["step"] == "after"
    ids = [node["id"] for node in sent["nodes"]]
    skews = {
        id_: [step["nodes"][row][2] for step in sent["steps"]]
        for row, id_ in enumerate(ids)
        if id_ in ("c:cow", "c:sign")
    }
    assert skews == {
        # 9 of 10 in country and 1 of 10 in urban, then 9 of 24 and 6 of 13
        "c:cow": [round((0.1 - 0.9) / 1.0, 3), round((6 / 13 - 9 / 24) / (6 / 13 + 9 / 24), 3)],
        "c:sign": [round((0.9 - 0.1) / 1.0, 3), round((5 / 13 - 6 / 24) / (5 / 13 + 6 / 24), 3)],
    }
    alley = ids.index("c:alley")
    assert [step["nodes"][alley][4] for step in sent["steps"]] == [False, True]
    again = open_page("compare", dataset=cars, compare_after=later, step="nothing")
    assert not again.exception
    assert "step" not in again.query_params


def test_the_steps_of_a_job_are_drawn_before_its_images_are_a_dataset(
    open_page: OpenPage, cars: str, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_job(store, cars, "plan", [("urban", ("cow",), 8)])
    other = list_datasets(store).query("dataset == @cars").assign(dataset="nothing like it")
    both = pd.concat([list_datasets(store).query("dataset == @cars"), other])
    monkeypatch.setattr(session, "datasets", lambda: both)
    (sent,) = stories(open_page("compare", dataset=cars))
    assert [step["id"] for step in sent["steps"]] == ["dataset", "plan"]
    cow = [node["id"] for node in sent["nodes"]].index("c:cow")
    assert sent["steps"][1]["nodes"][cow][2] == round((9 / 18 - 9 / 10) / (9 / 18 + 9 / 10), 3)


def test_it_opens_on_what_was_made_from_a_dataset(
    open_page: OpenPage, cars: str, later: str, store: GraphStore, write_dataset: WriteDataset
) -> None:
    """The latest of two copies, though another dataset's name is nearer; from either side."""
    copies = [f"z {cars}", f"y {cars}"]
    try:
        for copy in copies:
            job = create_job(store, cars, copy, [("urban", ("cow",), 3)])
            store.write(statements.CLAIM_COPY, into=copy, job=job)
            write_dataset(copy, MORE)
        for opened in (cars, copies[1]):
            app = open_page("compare", dataset=opened)
            assert not app.exception
            assert app.selectbox(key="dataset").value == cars
            assert app.selectbox(key="compare_after").value == copies[1]
            assert app.query_params["dataset"] in (cars, [cars])
            assert app.query_params["compare_after"] in (copies[1], [copies[1]])
        app = open_page("compare", dataset=copies[0])
        assert app.selectbox(key="compare_after").value == copies[0]
        app = open_page("compare", dataset=copies[0], compare_after=later)
        assert app.selectbox(key="dataset").value == copies[0]
        assert app.selectbox(key="compare_after").value == later
        app.selectbox(key="dataset").set_value(cars).run()
        assert app.selectbox(key="compare_after").value == copies[1]
    finally:
        for copy in copies:
            drop_dataset(store, copy)


def test_the_steps_between_have_the_numbers_of_the_plan(
    open_page: OpenPage, store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    """A copy with all that was asked for: the plan foretold what came."""
    rows = [("country", ("cow",), 80), ("country", ("dog",), 20), ("urban", ("dog",), 90)]
    write_dataset(dataset, [*rows, ("urban", ("cow",), 10)])
    copy = f"{dataset} renamed"
    job = create_job(store, dataset, "rates", [("urban", ("cow",), 70)])
    store.write(statements.CLAIM_COPY, into=copy, job=job)
    write_dataset(copy, [*rows, ("urban", ("cow",), 80)])
    app = open_page("compare", dataset=dataset, compare_after=copy, compare_counts="false")
    assert not app.exception
    (sent,) = stories(app)
    now = f"2 lean, most {80 / 100 - 80 / 170:.1%}"
    assert {step["id"]: step["name"].partition("\n")[2] for step in sent["steps"]} == {
        "dataset": f"2 lean, most {80 / 100 - 10 / 100:.1%}",
        "plan": now,
        "after": now,
    }
    assert "planned 2, got 2" in app.header[0].value


def test_by_counts_the_sentence_is_of_gaps(open_page: OpenPage, cars: str, later: str) -> None:
    app = open_page("compare", dataset=cars, compare_after=later, compare_counts="true")
    shown = table(app)
    after, before = shown["gap_after"].sum(), shown["gap_before"].sum()
    said = f"The gaps between the classes sum to {after} images; they did to {before}."
    assert app.header[0].value.replace("\\", "") == said
    (change,) = [one.delta for one in app.metric if one.label == "Sum of gaps"]
    assert change == f"{after - before:+}".replace("-", "−")


def test_unrelated_datasets_are_not_compared_unasked(
    open_page: OpenPage, cars: str, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = list_datasets(store).query("dataset == @cars").assign(dataset="nothing like it")
    both = pd.concat([list_datasets(store).query("dataset == @cars"), other])
    monkeypatch.setattr(session, "datasets", lambda: both)
    app = open_page("compare", dataset=cars)
    assert not app.exception
    assert app.selectbox(key="compare_after").value is None
    assert "No other version" in shown_text(app)


def test_an_absent_clique_is_shown_as_such(open_page: OpenPage, cars: str, later: str) -> None:
    link = {"compare_counts": "true", "compare_status": ["absent"]}
    app = open_page("compare", dataset=later, compare_after=cars, **link)
    assert not app.exception
    shown = table(app)
    assert shown.index.tolist() == ["dog"]
    assert shown.loc["dog", "class 0"] == "9 → -"


def test_only_what_the_filters_name(open_page: OpenPage, cars: str, later: str) -> None:
    app = open_page(
        "compare",
        dataset=cars,
        compare_after=later,
        compare_size="2",
        compare_counts="true",
        compare_status=["solved", "grown"],
        compare_gap="5",
    )
    assert table(app).index.tolist() == ["cow + field"]
    app.button_group(key="compare_status").set_value(["introduced"]).run()
    assert not app.exception
    assert "No clique has this status" in shown_text(app)


def test_swapped(open_page: OpenPage, cars: str, later: str) -> None:
    app = open_page("compare", dataset=cars, compare_after=later, compare_counts="true")
    app.button(key="_compare_swap").click().run()
    assert not app.exception
    assert app.selectbox(key="dataset").value == later
    assert app.selectbox(key="compare_after").value == cars
    assert table(app).loc["cow", "delta"] == 5


def test_a_later_state_of_the_other_dataset_is_read_anew(
    open_page: OpenPage, cars: str, later: str, write_dataset: WriteDataset
) -> None:
    app = open_page("compare", dataset=cars, compare_after=later, compare_counts="true")
    write_dataset(later, [*MORE, ("urban", ("cow", "road"), 3)])
    app.run()
    assert table(app).loc["cow", "status"] == "solved"


def test_other_classes_are_a_message(
    open_page: OpenPage, cars: str, later: str, write_dataset: WriteDataset
) -> None:
    write_dataset(later, [("country", ("cow",), 2), ("rural", ("cow",), 1)])
    app = open_page("compare", dataset=cars, compare_after=later)
    assert not app.exception
    assert "different classes" in shown_text(app)
    assert app.selectbox(key="compare_after").value == later


def test_one_that_is_not_mined_can_be(
    open_page: OpenPage, cars: str, later: str, write_dataset: WriteDataset
) -> None:
    write_dataset(later, [*MORE, ("urban", ("cow", "road"), 3)], mine=False)
    app = open_page("compare", dataset=cars, compare_after=later)
    assert not app.exception
    assert "has to be mined" in shown_text(app)


def test_mined_differently_is_said(
    open_page: OpenPage, cars: str, later: str, store: GraphStore
) -> None:
    mine_dataset(store, later, MiningOptions(max_size=2, min_support=2), max_cliques=100)
    app = open_page("compare", dataset=cars, compare_after=later)
    assert not app.exception
    assert "smallest support is 1 before and 2 after" in shown_text(app).replace("\\", "")


def test_many_classes(open_page: OpenPage, dataset: str, write_dataset: WriteDataset) -> None:
    later = f"{dataset} renamed"
    classes = [f"class {i}" for i in range(7)]
    write_dataset(dataset, [(name, ("x",), i + 1) for i, name in enumerate(classes)])
    write_dataset(later, [(name, ("x",), 7 - i) for i, name in enumerate(classes)])
    app = open_page("compare", dataset=dataset, compare_after=later, compare_counts="true")
    assert not app.exception
    assert table(app).loc["x", "status"] == "unchanged"


def test_the_file_has_all(store: GraphStore, evened: tuple[str, str]) -> None:
    cliques = compare_imbalances(store, *evened).cliques
    csv = pd.read_csv(io.BytesIO(to_csv(cliques)))
    assert len(csv) == len(cliques)
    assert csv["concepts"].iloc[0] == '["cow"]'
    assert csv["status"].tolist() == cliques["status"].tolist()
