"""The Diagnose page: filters, selection, and what the URL keeps of them."""

import json
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from cobalance.app.web.state import tasks
from cobalance.base.records import ALL_IMAGES, Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.workflows.concept_graph.colors import CLASS_COLORS
from tests.app.conftest import OpenPage, WriteDataset, shown_text
from tests.support import unequal


def cliques(app: AppTest) -> list[tuple[str, ...]]:
    """The cliques of the table, in its order."""
    return [tuple(names) for names in app.dataframe[0].value["concepts"]]


def test_the_table_has_the_counts_and_the_first_by_evidence(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", dataset=cars)
    assert not app.exception
    first = app.dataframe[0].value.iloc[0]
    # 9 of country and 1 of urban have a cow; signs are 1 to 9; cow and field 6 to 1.
    assert (first["concepts"], first["gap"]) == (["cow"], 8)
    assert (first["count_country"], first["count_urban"], first["too few"]) == (9, 1, "urban")
    assert "Sorted by evidence" in shown_text(app)
    app.selectbox(key="by").select("gap").run()
    assert app.dataframe[0].value.columns[1] == "gap"
    gaps = app.dataframe[0].value["gap"].tolist()
    assert gaps == sorted(gaps, reverse=True)
    assert "Sorted by count gap (ConBias), the largest first" in shown_text(app)


def test_leaning_is_told_by_evidence_and_contradicted_rows_say_so(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    groups = [("big", ("x",), 90), ("big", ("y",), 40), ("big", ("z", "y"), 270)]
    groups += [("small", ("x",), 80), ("small", ("y",), 5), ("small", ("y", "z"), 15)]
    write_dataset(dataset, groups)
    app = open_page("diagnose", dataset=dataset, repeats="true")
    table = app.dataframe[0].value.set_index(app.dataframe[0].value["concepts"].map(tuple))
    # x: 90 of 400 against 80 of 100; y: 310 of 400 against 20 of 100; z: 270 against 15.
    assert table.index.tolist() == [("x",), ("y",), ("z",), ("y", "z")]
    assert table["counts and rates"].tolist() == ["fewer images, higher rate", "", "", ""]
    assert table["rate difference"].tolist()[:2] == ["+57.5% small", "+57.5% big"]
    (sentence,) = (one for one in app.header if "combinations" in one.value)
    assert sentence.value.startswith("4 of 4 combinations lean.")
    assert "4 lean to a class" in sentence.help.replace("\\", "")
    assert "more have a gap" not in sentence.help
    assert "In 1 of 4 rows counts and rates disagree." in shown_text(app)
    app = open_page("plan", planner="conbias", dataset=dataset, plan_sizes=["1", "2"])
    assert "the rates contradict 1 of its" in shown_text(app)


def test_the_finding_and_the_next_step_come_first(
    open_page: OpenPage, cars: str, store: GraphStore
) -> None:
    app = open_page("diagnose", dataset=cars)
    found = read_imbalances(store, cars, Ranking(limit=1000))
    leaning = int((found["q_value"] <= 0.05).sum())
    (said,) = [one.value for one in app.header if "combination" in one.value]
    assert said.startswith(f"{leaning or 'None'} of {len(found)} combinations")
    assert [one.label for one in app.button if one.proto.type == "primary"] == [
        "Plan what is missing" if leaning else "Evaluate a model"
    ]
    app = open_page("diagnose", dataset=cars, clique='["cow"]')
    assert [one.key for one in app.button if one.proto.type == "primary"] == ["_to_plan"]


def test_filters_come_from_the_url(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", dataset=cars, size="2", concept="cow")
    assert all(len(clique) == 2 and "cow" in clique for clique in cliques(app))
    assert cliques(app)


def test_a_class_filter_keeps_what_it_lacks(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", dataset=cars)
    app.selectbox(key="under").select("country").run()
    assert set(app.dataframe[0].value["too few"]) == {"country"}


def test_a_link_selects_cliques(open_page: OpenPage, cars: str) -> None:
    clique = json.dumps(["cow", "field"])
    app = open_page("diagnose", dataset=cars, clique=clique)
    assert "**1 clique** selected" in shown_text(app)
    app.button(key="_clear").click().run()
    assert "selected" not in shown_text(app)
    assert not app.query_params.get("clique")


def test_a_link_that_nobody_wrote_selects_nothing(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", dataset=cars, clique=["{", '"cow"', "[]", "[1]"])
    assert not app.exception
    assert "selected" not in shown_text(app)


def test_no_clique_fits(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", dataset=cars, q="0.001", size="3")
    assert not app.exception
    assert "No clique fits" in shown_text(app)


def test_an_unmined_dataset_offers_mining(
    open_page: OpenPage, store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("x",), 2), ("b", ("x", "y"), 3)], mine=False)
    app = open_page("diagnose", dataset=dataset)
    assert "Not mined yet" in shown_text(app)
    assert app.button


def test_more_classes_than_two_have_an_axis_to_choose(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [(name, ("x", "y"), n) for n, name in enumerate("abcdef", 1)])
    app = open_page("diagnose", dataset=dataset)
    assert not app.exception
    assert app.selectbox(key="left").options == list("abcdef")


@pytest.mark.parametrize("n_classes", [6, 20])
def test_a_row_and_its_drawer_name_the_classes_that_they_compare(
    open_page: OpenPage, store: GraphStore, dataset: str, n_classes: int
) -> None:
    records = unequal.images(n_classes)
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(2, common=()), max_cliques=1000)
    expected = unequal.rows_of(records)
    app = open_page("diagnose", dataset=dataset, by="Strongest odds")
    assert not app.exception
    odds = [expected[clique].log_odds[0] for clique in cliques(app)]
    assert odds == pytest.approx(sorted(odds, reverse=True))
    assert len(odds) == len(expected)
    shown, columns = app.dataframe[0].value, json.loads(app.dataframe[0].proto.columns)
    sizes = Counter(record.class_name for record in records)
    for line in shown.to_dict("records"):
        row = expected[tuple(line["concepts"])]
        assert line["rate difference"] == row.rate_difference
        assert line["log odds ratio"] == row.log_odds_text.replace("-", "\N{MINUS SIGN}")
        assert (line["gap"], line["most"], line["too few"]) == (row.gap, row.most, row.fewest)
        for name, size in sizes.items():
            assert line[f"rate_{name}"] == pytest.approx(100 * row.counts[name] / size)
    for code, name in enumerate(sorted(sizes)):
        column = columns[f"rate_{name}"]
        assert column["label"] == f"% of {name}"
        assert column["type_config"]["color"] == CLASS_COLORS[code % len(CLASS_COLORS)]
        assert column["type_config"]["max_value"] == shown.filter(like="rate_").max(axis=None)
    clique, row = next(iter(expected.items()))
    app = open_page("diagnose", dataset=dataset, images=json.dumps(clique))
    told = shown_text(app).replace("\\", "")
    pair = f"{row.highest}, with the highest rate, and {row.lowest}, with the lowest"
    assert f"Compared: {pair}" in told
    metrics = {one.label: one.value for one in app.metric}
    assert metrics["Rate difference"] == f"+{float(row.effect):.1%}"
    assert metrics["Log odds ratio [95%]"] == row.log_odds_text


def test_a_class_may_be_called_like_a_column(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("gap", ("x", "y"), 2), ("size", ("x", "y"), 5)])
    app = open_page("diagnose", dataset=dataset)
    assert not app.exception
    first = app.dataframe[0].value.iloc[0]
    assert (first["gap"], first["count_gap"], first["count_size"]) == (3, 2, 5)


def test_hostile_names(open_page: OpenPage, dataset: str, write_dataset: WriteDataset) -> None:
    names = ("<script>alert(1)</script>", "'; MATCH (n) DETACH DELETE n //", "ل" * 300)
    write_dataset(dataset, [("**a** :red[x]", names, 3), ("`b` $y$", names, 5)])
    for view in ("Graph", "Matrix", "Combinations"):
        app = open_page("diagnose", dataset=dataset, view=view, concept=names[0])
        assert not app.exception
        assert cliques(app)


def test_an_empty_class_and_images_without_concepts(
    open_page: OpenPage, store: GraphStore, dataset: str
) -> None:
    write_annotations(
        store,
        dataset,
        Annotations.from_records([ImageRecord("1", "a"), ImageRecord("2", "b")]),
        source="a test",
    )
    app = open_page("diagnose", dataset=dataset)
    assert not app.exception


def test_unequal_classes_have_rates_beside_their_counts(
    open_page: OpenPage, cars: str, write_dataset: WriteDataset
) -> None:
    rows = [("big", ("x",), 6), ("big", ("y",), 2), ("small", ("x",), 1), ("small", ("y",), 1)]
    unequal = write_dataset(f"{cars} renamed", rows)
    table = open_page("diagnose", dataset=unequal).dataframe[0].value
    assert table.columns.tolist()[5:9] == ["rate_big", "rate_small", "count_big", "count_small"]
    x = table[table["count_big"] == 6].iloc[0]
    assert (x["rate_big"], x["rate_small"]) == (75, 50)


def test_the_first_thing_is_what_stands_on_its_own(
    open_page: OpenPage, store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    groups = [("a", ("*x*",), 40), ("b", ("*x*",), 2), ("b", ("y",), 30), ("a", ("y",), 3)]
    write_dataset(dataset, [*groups, ("b", ("z",), 8)])
    app = open_page("diagnose", dataset=dataset)
    assert "1 of 3 concepts is left out, since some class never shows it" in shown_text(app)
    assert not app.exception
    # "*x*" is in 40 of 43 images of a, and in 2 of 40 of b
    assert "leans to a by 88.0 percentage points; 1 more stands on its own" in app.expander[0].label
    assert len(app.table[0].value) == 2


def test_rows_with_the_same_images_are_one_until_they_are_opened(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    both = ("lamp", "person")
    groups = [("a", both, 5), ("b", both, 2), ("a", ("person",), 1), ("b", ("person",), 1)]
    write_dataset(dataset, groups)
    app = open_page("diagnose", dataset=dataset, images=json.dumps(both))
    table = app.dataframe[0].value
    assert dict(zip(table["concepts"].map(tuple), table["repeats"], strict=True)) == {
        ("person",): "",
        both: "+1",
    }
    assert "The same images show lamp" in shown_text(app)
    app.checkbox(key="repeats").check().run()
    assert set(cliques(app)) == {("lamp",), ("person",), both}
    assert not app.exception
    app = open_page("diagnose", dataset=dataset, images=json.dumps(["lamp"]), images_of="a")
    assert "**a** · 5 images" in shown_text(app)
    app = open_page("diagnose", dataset=dataset, images=json.dumps(["lamp"]), images_of="nobody")
    assert not app.exception
    assert "**b** · 2 images" in shown_text(app)
    for no_clique in (["nobody"], ["lamp", "nobody"], ["x"] * 50):
        app = open_page("diagnose", dataset=dataset, images=json.dumps(no_clique))
        assert not app.exception
        assert "Add to plan" not in [one.label for one in app.button]


def test_many_classes_have_a_heat_map_and_begin_with_their_strongest_contrast(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    groups = [(name, ("x", "y"), 20) for name in ("ant", "*bee*", "cow")]
    write_dataset(dataset, [*groups, ("cow", ("sea",), 30), ("ant", ("sky",), 30)])
    app = open_page("diagnose", dataset=dataset, view="Heat map")
    assert not app.exception
    assert "Standardised residuals" in shown_text(app)
    numbers = app.dataframe[-1].value
    # sky: 30 of 50 images of ant, and of no other: (30 - 30 * 50/120) / sqrt(12.5 * .75 * 70/120)
    assert numbers["concept"].tolist() == ["sea", "sky", "x", "y"]
    assert round(numbers["class 1"].tolist()[1], 2) == 7.48
    app = open_page("diagnose", dataset=dataset)
    # x and y are in all images of *bee* and in 20 of 50 of either other, which have a third.
    assert (app.selectbox(key="left").value, app.selectbox(key="right").value) == ("*bee*", "ant")
    assert "1 more pair differs as much" in app.selectbox(key="right").help


def test_a_link_shows_the_images_of_one_class_of_many(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    groups = [(name, ("x",), n) for n, name in enumerate("abcde", 1)]
    write_dataset(dataset, [*groups, ("a", ("only in a",), 2)])
    for clique, images in (("x", "1 image · 33.3% of the class"), ("only in a", "2 images")):
        link = {"view": "Heat map", "images": json.dumps([clique]), "images_of": "a"}
        app = open_page("diagnose", dataset=dataset, **link)
        assert not app.exception
        assert f"**a** · {images}" in shown_text(app)


def test_two_classes_have_no_heat_map(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", dataset=cars, view="Heat map")
    assert not app.exception
    assert "Standardised residuals" not in shown_text(app)


def test_bars_of_combinations_are_shares_where_classes_are_unequal(
    open_page: OpenPage, cars: str, write_dataset: WriteDataset
) -> None:
    app = open_page("diagnose", dataset=cars, view="Combinations")
    assert app.selectbox(key="bars").value == "Images"
    groups = [(f"class {n:02}", ("x", "y"), 3 + n) for n in range(15)]
    unequal = write_dataset(f"{cars} renamed", groups)
    app = open_page("diagnose", dataset=unequal, view="Combinations")
    assert not app.exception
    assert app.selectbox(key="bars").value == "% of class"
    assert "3 more classes have no bars" in shown_text(app)  # of 15, as there are 12 colours


def test_the_order_of_what_stands_on_its_own_and_a_group_of_concepts(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    sea, town = ("boat", "gull"), ("bus", "tram")
    groups = [("a", sea, 60), ("b", sea, 5), ("b", town, 30), ("a", town, 20), ("a", ("tram",), 9)]
    write_dataset(dataset, groups)
    app = open_page("diagnose", dataset=dataset)
    assert {"own effect", "by its parts"} <= {*app.dataframe[0].value}
    app = open_page("diagnose", dataset=dataset, by="Stands on its own")
    assert app.dataframe[0].value.columns[1] == "own effect"
    # bus: 30 of 35 images of b, 20 of 89 of a, all with a tram
    assert (cliques(app)[0], app.dataframe[0].value["repeats"][0]) == (town, "+1")
    assert "Only combinations that stand on their own" in shown_text(app)
    app = open_page("diagnose", dataset=dataset, group="together:tram, bus")
    assert {*cliques(app)} == {town, ("tram",)}
    assert app.selectbox(key="_id_group").options[1] == "tram, bus · 2 of 2 lean"


def test_concepts_selected_in_the_graph_are_a_clique_for_the_plan(
    open_page: OpenPage, cars: str
) -> None:
    clique = '["cow","field"]'
    app = open_page("diagnose", dataset=cars, concept=["field", "cow"])
    add = app.button(key="_graph_to_plan")
    assert (add.label, add.disabled) == ("Add to plan", False)
    app = add.click().run()
    assert app.query_params["clique"] in (clique, [clique])
    app = app.button(key="_graph_details").click().run()
    assert app.query_params["images"] in (clique, [clique])
    assert app.button(key="_details_to_plan").label == "Take out of the plan"
    app = app.button(key="_graph_to_plan").click().run()
    assert not app.exception
    assert not app.query_params.get("clique")
    # No image shows these two.
    assert (
        open_page("diagnose", dataset=cars, concept=["alley", "cow"])
        .button(key="_graph_to_plan")
        .disabled
    )
    graphless = open_page("diagnose", dataset=cars)
    assert "_graph_to_plan" not in [one.key for one in graphless.button]


def test_rules_name_what_breaks_one_and_write_its_files(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    groups = [
        ("farm", ("cow",), 90),
        ("farm", ("tree",), 110),
        ("town", ("cow",), 10),
        ("town", ("tree",), 190),
    ]
    write_dataset(dataset, groups)
    app = open_page("diagnose", dataset=dataset, view="Rules")
    assert not app.exception
    assert "breaks a rule: 2 new; 2 combinations tested" in shown_text(app)
    (table,) = (frame.value for frame in app.dataframe if "finding" in frame.value)
    assert table["combination"].tolist() == ["cow", "tree"]

    # With the largest difference that there is nothing is left.
    app.number_input(key="rules_points").set_value(41.0).run()
    assert not app.exception
    assert "passes: no finding" in shown_text(app)
    labels = [button.proto.label for button in app.get("download_button")]
    assert {"Rules", "Baseline"} <= {*labels}


def test_without_classes_the_picture_is_what_occurs_together(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    groups = [(ALL_IMAGES, ("x", "y"), 30), (ALL_IMAGES, ("z",), 40), (ALL_IMAGES, (), 30)]
    write_dataset(dataset, groups)
    app = open_page("diagnose", dataset=dataset)
    assert not app.exception
    assert "The images have no classes" in shown_text(app)
    assert "30 images show *x \\+ y*; by chance 9 would." in [one.value for one in app.header]
    assert "_next_step" not in [one.key for one in app.button]
    (choice,) = (box for box in app.selectbox if box.label == "Compare by")
    choice.select("x").run()
    assert not app.exception
    told = app.header[0].help.replace("\\", "")
    assert "and the 70 without" in told
    assert "The graph and the matrix are of the dataset's own classes." in told
    row = app.dataframe[0].value.iloc[0]
    assert [*row["concepts"], row["count_x"], row["count_no x"]] == ["y", 30, 0]
    (choice,) = (box for box in app.selectbox if box.label == "Compare by")
    assert choice.value == "x"

    # Others see the dataset as it is, and with the link as this person does.
    others = open_page("diagnose", dataset=dataset)
    assert "30 images show *x \\+ y*" in " ".join(one.value for one in others.header)
    linked = open_page("diagnose", dataset=dataset, compare_by="x")
    assert "and the 70 without" in linked.header[0].help.replace("\\", "")
    choice.select(" ").run()
    together = app.dataframe[0].value
    assert together[["concepts", "images", "expected"]].iloc[0].tolist() == ["x + y", 30, "9.0"]


def test_image_files_are_measured_on_the_press_and_shown(
    open_page: OpenPage, dataset: str, store: GraphStore, tmp_path: Path, monkeypatch
) -> None:
    records = []
    for at in range(12):
        Image.new("RGB", (8, 8), (20 * at, 9, 9)).save(tmp_path / f"{at}.png")
        records.append(ImageRecord(f"{at}", "ab"[at // 6], (Mention("x"),), uri=f"{at}.png"))
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(), max_cliques=100)
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path))
    (tmp_path / "0.png").write_bytes(b"no picture")
    # A link begins nothing; a person who asks for the view does.
    linked = open_page("diagnose", dataset=dataset, view="Files")
    assert "Do the files tell the classes apart?" in shown_text(linked)
    assert tasks.find(f"properties {dataset}") is None
    app = open_page("diagnose", dataset=dataset)
    app.button_group(key="view").set_value("Files").run()
    task = tasks.find(f"properties {dataset}")
    assert task is not None
    assert task.wait(300)
    assert task.error is None
    app.run()
    assert not app.exception
    assert "1 image could not be read" in shown_text(app)
    (table,) = [one.value for one in app.dataframe if "auc" in one.value]
    row = table.set_index("property").loc["brightness"]
    assert (row["auc"], row["class"]) == (0, "a")
    assert app.selectbox(key="_property").value == "brightness"
