"""The Find page: empty states, neighbours, near duplicates, the map's box, and tags."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.app.web.page.find import adding
from cobalance.app.web.page.find.map import box_of, in_box
from cobalance.app.web.state import tasks
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.tags.tags import list_notes, list_tags, tag_images
from cobalance.graph.tasks.lifecycle import list_tasks
from cobalance.ingest.embeddings.similarity import unit_vectors
from cobalance.ingest.embeddings.stored import write_embeddings
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import run_here
from tests.app.conftest import OpenPage, press, shown_text


@pytest.fixture
def embedded(cars: str, settings: Settings, store: GraphStore) -> str:
    """Images of one combination point the same way; one of urban is a copy of one of country."""
    ids = store.read("MATCH (i:Image {dataset: $d}) RETURN i.id AS id ORDER BY id", d=cars)
    names = [row["id"] for row in ids]
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(len(names), 12))
    vectors[-1] = vectors[0]
    write_embeddings(settings.folders().embeddings, cars, names, unit_vectors(vectors))
    return cars


def test_a_page_without_embeddings_says_how_to_add_them(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", view="Similar", dataset=cars)
    assert not app.exception
    assert "Which images are alike?" in shown_text(app)
    assert "pip install" not in shown_text(app)
    assert app.selectbox(key="find_with").value == "pixels"
    app = open_page("diagnose", view="Similar", dataset=cars, find_source="From a file")
    assert app.get("file_uploader")
    app = open_page("diagnose", view="Similar", dataset=cars, find_view="Tags")
    assert "No tags yet" in shown_text(app)


def test_an_array_is_sent_with_the_ids_of_its_rows(
    open_page: OpenPage, cars: str, store: GraphStore
) -> None:
    ids = store.read("MATCH (i:Image {dataset: $d}) RETURN i.id AS id ORDER BY id", d=cars)
    array = BytesIO()
    np.save(array, np.random.default_rng(0).normal(size=(len(ids), 4)))
    app = open_page(
        "diagnose", view="Similar", dataset=cars, find_view="Map", find_source="From a file"
    )
    app.file_uploader(key="_embeddings_file").set_value(
        ("v.npy", array.getvalue(), "application/octet-stream")
    ).run()
    assert app.button(key="_embeddings_add").disabled
    names = "\n".join(row["id"] for row in ids).encode()
    app.file_uploader(key="_embeddings_row_ids").set_value(("ids.txt", names, "text/plain")).run()
    app.button(key="_embeddings_add").click().run()
    assert not app.exception
    assert f"of {len(ids)} vectors" in shown_text(app)


@pytest.fixture
def pictured(dataset: str, store: GraphStore, tmp_path: Path) -> str:
    """Six images with files, the last of which is a copy of the first."""
    records = []
    for at in range(6):
        pixels = np.random.default_rng(at % 5).integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{at}.png")
        records.append(ImageRecord(f"{at}", "ab"[at % 2], (Mention("x"),), uri=f"{at}.png"))
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


def test_two_clicks_lead_to_near_duplicates(
    open_page: OpenPage, pictured: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path))
    app = open_page("diagnose", view="Similar", dataset=pictured)
    press(app, "Compare the images")
    task = tasks.find(f"embed {pictured}")
    assert task is not None
    assert task.wait(300)
    assert task.error is None
    app.run()
    assert not app.exception
    assert "**2 images in 1 group**; 1 of the groups" in shown_text(app)
    app.segmented_control(key="find_view").set_value("Map").run()
    assert not app.exception
    assert "of 6 vectors" in shown_text(app)


def test_vectors_of_a_model_are_ordered_cancelled_and_computed(
    open_page: OpenPage,
    pictured: str,
    store: GraphStore,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As where what they take is not installed beside the app.
    monkeypatch.setattr(adding, "is_installed", lambda extra: False)
    dataset = pictured
    app = open_page(
        "diagnose", view="Similar", dataset=dataset, find_view="Map", find_with="pixels"
    )
    app.button(key="_embeddings_compute").click().run()
    assert not app.exception
    assert "No worker is running" in shown_text(app)
    app.button(key="_cancel_tasks").click().run()
    app.button(key="_retry_tasks").click().run()
    (task,) = list_tasks(store, dataset)
    assert (task.state, task.attempt) == ("queued", 1)
    own = settings.model_copy(update={"cobalance_images": (str(tmp_path),)})
    run_here(own, [task.id], f"sqlite:///{tmp_path}/queue.sqlite")
    app.run()
    assert not app.exception
    assert "of 6 vectors" in shown_text(app)
    assert "No worker is running" not in shown_text(app)


def test_images_are_found_and_tagged(open_page: OpenPage, embedded: str, store: GraphStore) -> None:
    app = open_page("diagnose", view="Similar", dataset=embedded, find_view="Map")
    assert not app.exception
    assert "of 20 vectors" in shown_text(app)
    app = open_page(
        "diagnose", view="Similar", dataset=embedded, find_view="Map", find_box="-2,2,-2,2"
    )
    assert "**20 images**" in shown_text(app)
    app = open_page("diagnose", view="Similar", dataset=embedded, find_view="Similar")
    assert "Cosines from 1.000" in shown_text(app)
    assert "country" in str(app.query_params["find_image"])  # a link shows the same image
    tag_images(store, embedded, "copies", ["country ('cow', 'field') 0"])
    app = open_page(
        "diagnose", view="Similar", dataset=embedded, find_view="Near duplicates", find_least="0.99"
    )
    assert "**2 images in 1 group**; 1 of the groups" in shown_text(app)
    app.button(key="_as_clusters").click().run()
    assert not app.exception
    (named,) = store.read(
        "MATCH (i:Image {dataset: $d}) WHERE i.cluster IS NOT NULL "
        "RETURN count(*) AS images, count(DISTINCT i.cluster) AS clusters",
        d=embedded,
    )
    assert dict(named) == {"images": 2, "clusters": 1}
    app = open_page(
        "diagnose", view="Similar", dataset=embedded, find_view="Near duplicates", find_least="0.99"
    )
    app.selectbox(key="_tags_tag").set_value("copies").run()
    app.selectbox(key="_tags_role").set_value("exclude").run()
    app.button(key="_tags_add").click().run()
    assert not app.exception
    assert "2 images tagged copies" in shown_text(app)
    assert list_tags(store, embedded)[["tag", "role", "images"]].to_numpy().tolist() == [
        ["copies", "exclude", 2]
    ]
    about = app.selectbox(key="_note_on")
    image = about.options[0]
    app = about.set_value(image).run()
    app.text_area(key=f"_note {image}").set_value("twice").run()
    app.button(key="_tags_note").click().run()
    assert list_notes(store, embedded)[["image", "note"]].to_numpy().tolist() == [[image, "twice"]]
    app = open_page("diagnose", view="Similar", dataset=embedded, find_view="Tags")
    assert "2 images are left out" in shown_text(app)
    app.button(key="_tags_apply").click().run()
    assert not app.exception
    assert "2 of them are left out of counts." in shown_text(app)


def test_an_image_that_is_not_there_is_an_error_in_words(
    open_page: OpenPage, embedded: str, store: GraphStore
) -> None:
    app = open_page(
        "diagnose", view="Similar", dataset=embedded, find_view="Similar", find_image="<b>x"
    )
    assert not app.exception
    assert "unknown embedded image" in shown_text(app)
    tag_images(store, embedded, "}) DELETE n // <b>", ["urban ('alley', 'sign') 0"])
    app = open_page("diagnose", view="Similar", dataset=embedded, find_view="Tags")
    assert not app.exception
    assert "**1 image**" in shown_text(app)


def test_boxes_hold_their_edges_and_links_are_read_as_they_come() -> None:
    places = pd.DataFrame({"id": list("abc"), "x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 0.5]})
    assert in_box(places, [0, 1, 0, 1])["id"].tolist() == ["a", "b"]
    assert box_of({"box": {"x": [1, 0.123456], "y": [2, 3]}}) == [0.1235, 1, 2, 3]
    assert box_of({"box": {}}) is box_of({}) is None
