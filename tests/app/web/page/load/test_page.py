"""The Datasets page: what is loaded, and the way from a file to a mined dataset."""

import json
from pathlib import Path

import pytest
import streamlit as st
from PIL import Image
from streamlit.testing.v1 import AppTest

from cobalance.app.web.state import tasks
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.graph.dataset.cliques import read_mining_options
from cobalance.graph.dataset.names import class_sizes
from cobalance.graph.dataset.state import dataset_state, find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.ingest.captions.image_texts import read_image_texts
from cobalance.workflows.folders import read_added
from cobalance.workflows.load.image_places import added_places
from tests.app.conftest import OpenPage, WriteDataset, shown_text
from tests.ingest.dataset_files import archive, pixels

ROWS = b"id,label,objects\n1,country,cow|road\n2,country,\n3,urban,road\n4,urban,cow\n5,,cow\n"
CSV = ("cars.csv", ROWS, "text/csv")
UPLOAD = "_import_files"


def run_tasks(app: AppTest) -> AppTest:
    """Wait for what runs, and draw the page as it is then."""
    for key in tasks.keys("check", "load", "mine", "rename", "drop"):
        task = tasks.find(key)
        assert task is None or task.wait(300)
    return app.run()


def table(app: AppTest, column: str) -> dict[str, int]:
    """The table whose first column has this name, as a mapping of its first two columns."""
    (frame,) = (d.value for d in app.dataframe if d.value.columns[0] == column)
    return dict(zip(frame.iloc[:, 0], frame.iloc[:, 1], strict=True))


def widget(app: AppTest, kind: str, label: str):
    (found,) = (element for element in app.get(kind) if element.label == label)
    return found


@pytest.fixture
def loading(open_page: OpenPage, write_dataset: WriteDataset, dataset: str) -> AppTest:
    """The page's second view; there is a data set, so that the page has both."""
    write_dataset(f"{dataset} renamed", [("country", ("cow",), 1)], mine=False)
    return open_page("datasets", dataset=f"{dataset} renamed", ds_view="Load annotations")


def choose_files(app: AppTest, dataset: str, *files: tuple[str, bytes, str]) -> AppTest:
    app.file_uploader(key=UPLOAD).set_value(list(files)).run()
    assert not app.exception
    widget(app, "text_input", "Dataset").input(dataset)
    return app


def check(app: AppTest) -> AppTest:
    """Have the page see what was chosen, which it checks by itself."""
    return run_tasks(app.run())


def test_details_of_a_dataset(open_page, write_dataset, dataset) -> None:
    write_dataset(
        dataset,
        [("country", ("cow",), 12), ("country", (), 3), ("urban", ("road",), 5)],
        mine=False,
    )
    app = open_page("datasets", dataset=dataset, ds_view="Details")
    assert not app.exception
    frame = app.dataframe[0].value.set_index("Dataset").loc[dataset]
    assert (frame["Images"], frame["Classes"], frame["Concepts"]) == (20, 2, 2)
    assert (frame["State"], frame["From"]) == ("not mined", "a test")
    shares = {metric.label: metric.value for metric in app.metric}
    assert shares["Images without a concept"] == "15.0%"
    (classes,) = (d.value for d in app.dataframe if "No concept" in d.value)
    assert classes[["Class", "Images", "No concept"]].to_numpy().tolist() == [
        ["country", 15, 3],
        ["urban", 5, 0],
    ]
    assert table(app, "Concept") == {"road": 5}
    app = open_page("datasets", dataset=dataset, ds_view="Details", ds_rare="12")
    assert table(app, "Concept") == {"road": 5, "cow": 12}


def test_a_dataset_of_a_demonstration_is_marked(open_page, store, write_dataset, dataset) -> None:
    write_dataset(dataset, [("cat", ("sofa",), 3)])
    for is_demo in (False, True):
        store.write(UPDATE_DATASET, dataset=dataset, values={"demo": is_demo})
        app = open_page("datasets", dataset=dataset, ds_view="Details")
        assert ("demo" in [caption.value for caption in app.caption]) == is_demo


def test_demonstrations_are_listed_on_request(open_page, store, write_dataset, dataset) -> None:
    for name, is_demo in ((dataset, False), (f"{dataset} renamed", True)):
        write_dataset(name, [("cat", ("sofa",), 3)], mine=False)
        store.write(UPDATE_DATASET, dataset=name, values={"demo": is_demo})
    app = open_page("datasets", dataset=dataset, ds_view="Details")
    assert f"{dataset} renamed" not in table(app, "Dataset")
    assert f"**{dataset}**" in shown_text(app).replace("\\", "")  # beside what acts on it
    app.toggle(key="ds_demos").set_value(True).run()
    assert not app.exception
    assert {dataset, f"{dataset} renamed"} <= {*table(app, "Dataset")}
    chosen = open_page("datasets", dataset=f"{dataset} renamed", ds_view="Details")
    assert f"{dataset} renamed" in table(chosen, "Dataset")


def grid_texts(app: AppTest) -> list[str]:
    """What the page's grid of images says of each."""
    sent = [json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json]
    return [image["alt"] for data in sent for image in data.get("images", ())]


@pytest.fixture
def pictured(store, dataset, tmp_path, monkeypatch) -> str:
    """60 images with files: 45 cats, of which 30 are on a sofa, and 15 dogs on one."""
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path))
    monkeypatch.setenv("COBALANCE_CACHE", str(tmp_path / "cache"))
    records = []
    for at in range(60):
        Image.new("RGB", (12, 8), (4 * at, 90, 30)).save(tmp_path / f"{at:02}.png")
        name, shown = ("dog", "sofa") if at % 4 == 3 else ("cat", ("sofa", "sofa", "lawn")[at % 3])
        records.append(ImageRecord(f"{at:02}", name, (Mention(shown),), uri=f"{at:02}.png"))
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


def test_the_images_come_first_and_are_found_by_class_and_concepts(open_page, pictured) -> None:
    app = open_page("datasets", dataset=pictured)
    assert not app.exception
    assert "**60 images**" in shown_text(app)
    assert grid_texts(app)[:2] == ["00: cat: sofa", "01: cat: sofa"]
    assert len(grid_texts(app)) == 48
    app = open_page("datasets", dataset=pictured, ds_page="2")
    assert [text[:2] for text in grid_texts(app)] == [str(at) for at in range(48, 60)]
    app.selectbox(key="ds_class").select("dog").run()  # on its first page
    assert "**15 of 60 images**" in shown_text(app)
    assert {text.partition(": ")[2] for text in grid_texts(app)} == {"dog: sofa"}
    app.multiselect(key="ds_concept").set_value(["lawn"]).run()
    assert not app.exception
    assert "No image shows all of this" in shown_text(app)
    cats = open_page("datasets", dataset=pictured, ds_class="cat", ds_concept="lawn")
    expected = [f"{at:02}: cat: lawn" for at in range(60) if at % 4 != 3 and at % 3 == 2]
    assert grid_texts(cats) == expected


def test_images_without_files_are_listed_by_name(open_page, pictured, tmp_path) -> None:
    app = open_page("datasets", dataset=pictured, ds_class="dog")
    assert len(grid_texts(app)) == 15
    for at in range(60):  # on another machine, from now on
        (tmp_path / f"{at:02}.png").unlink()
    app = open_page("datasets", dataset=pictured, ds_class="dog")
    assert not app.exception
    assert not grid_texts(app)
    assert "files are not in the folders" in shown_text(app)
    (names,) = (frame.value for frame in app.dataframe)
    assert names["id"].tolist() == [f"{at:02}" for at in range(3, 60, 4)]
    assert names["concepts"].tolist() == [["sofa"]] * 15


def test_nothing_is_written_before_it_is_asked_for(loading, store, dataset) -> None:
    app = choose_files(loading, dataset, CSV)
    widget(app, "selectbox", "Malformed records").select("skip")
    check(app)
    found = table(app, "In the files")
    assert (found["Images to load"], found["of these without a concept"]) == (4, 1)
    assert found["Malformed records left out"] == 1
    assert table(app, "In the dataset, after loading")["New images"] == 4
    assert table(app, "Classes (2)") == {"country": 2, "urban": 2}
    assert table(app, "Concepts (2)") == {"cow": 2, "road": 2}
    (skipped,) = (d.value for d in app.dataframe if "Remedy" in d.value)
    assert skipped.to_numpy().tolist() == [
        ["cars.csv", "line 6", "the class is empty", "Name the image's class."]
    ]
    assert find_dataset(store, dataset) is None


def test_from_a_file_to_cliques(loading, store, dataset) -> None:
    app = choose_files(loading, dataset, CSV)
    widget(app, "selectbox", "Malformed records").select("skip")
    check(app).button(key="_import_load").click().run()
    run_tasks(app)
    assert f"{dataset}: 4 images new" in shown_text(app).replace("\\", "")
    app.button(key="_import_shown").click().run()
    assert app.session_state["dataset"] == dataset  # what was loaded is what is shown
    assert table(app, "Dataset")[dataset] == 4
    app.button(key="_ds_mine").click().run()
    app.number_input(key="_mine_size").set_value(2)
    app.button(key="_mine_now").click().run()
    run_tasks(app)
    assert "Found 3 cliques" in shown_text(app).replace("\\", "")
    assert read_mining_options(store, dataset).max_size == 2
    app.button(key="_ds_mine").click().run()
    assert app.number_input(key="_mine_size").value == 2


def test_a_loaded_file_is_mined_and_diagnosed_next(loading, store, dataset) -> None:
    app = choose_files(loading, dataset, ("cars.csv", ROWS[: ROWS.index(b"5,")], "text/csv"))
    check(app).button(key="_import_load").click().run()
    run_tasks(app)
    assert not app.get("file_uploader")  # what comes next, not a form that is empty again
    app.button(key="_import_mine").click().run()
    assert not app.exception
    assert [title.value for title in app.title] == ["Diagnose"]
    run_tasks(app)
    assert read_mining_options(store, dataset).max_size == 3


def test_a_file_is_loaded_mined_and_diagnosed_by_one_button(loading, store, dataset) -> None:
    app = choose_files(loading, dataset, ("cars.csv", ROWS[: ROWS.index(b"5,")], "text/csv"))
    app = check(app).button(key="_import_diagnose").click().run()
    # Nothing goes from its place while it works.
    if tasks.is_running(f"load {dataset}"):
        assert app.button(key="_import_diagnose").disabled
    run_tasks(app)
    assert not app.exception
    assert [title.value for title in app.title] == ["Diagnose"]
    assert read_mining_options(store, dataset).max_size == 3


def test_another_file_is_loaded_next(loading, dataset) -> None:
    app = choose_files(loading, dataset, ("cars.csv", ROWS[: ROWS.index(b"5,")], "text/csv"))
    check(app).button(key="_import_load").click().run()
    run_tasks(app)
    app.button(key="_import_another").click().run()
    assert app.get("file_uploader")


def test_the_first_malformed_record_stops_the_check(loading, store, dataset) -> None:
    app = check(choose_files(loading, dataset, CSV))
    assert "cars.csv, line 6: the class is empty" in shown_text(app)
    assert "with “Malformed records” set to “Leave out, and list”" in shown_text(app)
    assert "--" not in shown_text(app)
    helps = [widget.help for kind in ("selectbox", "text_input") for widget in app.get(kind)]
    assert not [text for text in helps if text and "`--" in text]
    assert not [b for b in app.button if b.key == "_import_load"]


def test_a_check_is_of_the_options_that_it_was_made_with(loading, dataset) -> None:
    app = choose_files(loading, dataset, ("cars.csv", ROWS[: ROWS.index(b"5,")], "text/csv"))
    check(app).button(key="_import_load")
    widget(app, "text_input", "Split of all images").input("train").run()
    run_tasks(app)
    first = next(frame.value for frame in app.dataframe if "Split" in frame.value)
    assert set(first["Split"]) == {"train"}


def test_loading_again_says_what_would_change(loading, write_dataset, dataset) -> None:
    write_dataset(dataset, [("country", ("cow",), 2)], mine=False)
    rows = b"id;label;objects\ncountry ('cow',) 0;country;cow\nnew;urban;cow\n"
    app = choose_files(loading, dataset, ("cars.csv", rows, "text/csv"))
    after = table(check(app), "In the dataset, after loading")
    assert list(after.values()) == [1, 0, 1, 0, 1]
    widget(app, "selectbox", "Images that the dataset has").select("Put these in their place")
    after = table(check(app), "In the dataset, after loading")
    assert list(after.values()) == [1, 0, 1, 1, 0]


def test_columns_have_their_roles_on_their_heads(loading, dataset) -> None:
    rows = b"picture,kind,place,things,extra\n" + b"".join(
        b"%d.jpg,%s,%s,%s,%d\n" % (n, *three, n)
        for n, three in enumerate(
            [(b"country", b"in", b"cow;road"), (b"urban", b"out", b"cow"), (b"urban", b"in", b"")]
            * 3
        )
    )
    app = choose_files(loading, dataset, ("cars.csv", rows, "text/csv"))
    names = ("picture", "kind", "place", "things", "extra")
    heads = {name: widget(app, "selectbox", name) for name in names}
    place = "A concept per value"
    roles = ["Id and picture", "Class", place, "Concepts", "Not used"]
    assert [heads[name].format_func(heads[name].value) for name in names] == roles
    assert "2 different values." in shown_text(app).replace("\\", "")
    assert table(check(app), "Classes (2)") == {"country": 3, "urban": 6}
    assert table(app, "Concepts (4)") == {"cow": 6, "road": 3, "place: in": 6, "place: out": 3}
    assert "What the columns become" in shown_text(app)
    (instead,) = (b for b in app.button if b.label == "“place” instead")
    instead.click().run()
    assert widget(app, "selectbox", "kind").value == ()  # it has no longer what another has
    assert table(check(app), "Classes (2)") == {"in": 6, "out": 3}
    widget(app, "selectbox", "things").set_value(()).run()
    assert "No column holds its concepts yet" in shown_text(app)
    assert "No image shows a concept" in shown_text(check(app))


def test_rows_of_an_image_are_merged_or_images_of_their_own(loading, dataset) -> None:
    rows = b"".join(b"%d.jpg,car,%s\n" % (n // 2, (b"red", b"blue")[n % 2]) for n in range(6))
    rows += b"".join(b"%d.jpg,bus,red\n" % (n // 2) for n in range(6, 10))
    app = choose_files(loading, dataset, ("seen.csv", b"id,label,objects\n" + rows, "text/csv"))
    assert table(check(app), "Classes (2)") == {"bus": 2, "car": 3}
    widget(app, "checkbox", "Each row is an image").check()
    assert table(check(app), "Classes (2)") == {"bus": 4, "car": 6}
    assert table(app, "Concepts (2)") == {"red": 7, "blue": 3}


def test_files_of_splits_are_one_dataset(loading, dataset) -> None:
    head, *rows = ROWS.splitlines(keepends=True)[:5]
    files = {"train.csv": rows[:3], "val.csv": rows[3:]}
    sent = [(name, head + b"".join(part), "text/csv") for name, part in files.items()]
    app = choose_files(loading, dataset, *sent)
    chosen = widget(app, "selectbox", "Annotation file")
    assert chosen.options[0] == "All of them (csv)"
    assert table(check(app), "In the files")["Images to load"] == 4
    first = next(frame.value for frame in app.dataframe if "Split" in frame.value)
    assert first["Split"].tolist() == ["train"] * 3 + ["val"]
    chosen.select_index(2).run()
    assert table(check(app), "In the files")["Images to load"] == 1


def test_the_class_may_be_one_of_many_columns_of_0_and_1(loading, dataset) -> None:
    names = [f"A{number}" for number in range(14)]
    rows = [
        ",".join([f"{row}.jpg", *(str((row >> (at % 4)) & 1) for at in range(14))]) + "\n"
        for row in range(16)
    ]
    content = f"image_id,{','.join(names)}\n{''.join(rows)}".encode()
    app = choose_files(loading, dataset, ("faces.csv", content, "text/csv"))
    assert "No column holds its class yet" in shown_text(app)
    widget(app, "selectbox", "Class, if it is one of the other 14 columns").select("A3").run()
    assert table(check(app), "Classes (2)") == {"0": 8, "1": 8}
    assert set(table(app, "Concepts (13)")) == set(names) - {"A3"}
    widget(app, "selectbox", "image_id").set_value(("class",)).run()
    other = widget(app, "selectbox", "Class, if it is one of the other 14 columns")
    assert other.value is None


def coco() -> bytes:
    names = ("cat", "dog", "sofa")
    shown = ((1, 1), (2, 2), (2, 3))  # image, category
    content = {
        "images": [{"id": i, "file_name": f"{i}.jpg"} for i in (1, 2, 3)],
        "categories": [{"id": i, "name": name} for i, name in enumerate(names, start=1)],
        "annotations": [
            {"id": i, "image_id": image, "category_id": category}
            for i, (image, category) in enumerate(shown)
        ],
    }
    return json.dumps(content).encode()


def test_coco_with_its_categories_as_classes(loading, dataset) -> None:
    app = choose_files(loading, dataset, ("instances.json", coco(), "application/json"))
    choice = widget(app, "multiselect", "Categories that are classes")
    assert choice.options == ["cat", "dog", "sofa"]
    choice.select("cat").select("dog")
    found = table(check(app), "In the files")
    assert found["Set aside: images that show none of the class categories"] == 1
    assert table(app, "Classes (2)") == {"cat": 1, "dog": 1}
    assert table(app, "Concepts (1)") == {"sofa": 1}


def test_a_class_file_goes_with_the_annotations(loading, dataset) -> None:
    classes = ("classes.csv", b"image_id,label\n1,indoor\n2,outdoor\n", "text/csv")
    app = choose_files(loading, dataset, classes, ("instances.json", coco(), "application/json"))
    files = widget(app, "selectbox", "Annotation file").options
    assert files == ["instances.json (coco-instances)", "classes.csv (csv)"]
    assert widget(app, "button_group", "An image's class is in").value == "Another file"
    chosen = widget(app, "selectbox", "Table of image id or file name, and class")
    assert chosen.value == "classes.csv"  # the only table of classes beside them
    assert table(check(app), "Classes (2)") == {"indoor": 1, "outdoor": 1}
    assert "classes.csv: 2 of 3 images by image_id" in shown_text(app).replace("\\", "")


def test_files_that_a_restarted_app_does_not_have_are_asked_for_again(loading, monkeypatch) -> None:
    lost = "cobalance.app.web.page.load.importing.has_lost_files"
    monkeypatch.setattr(lost, lambda key: key == UPLOAD)
    app = loading.run()
    assert not app.exception
    assert "no longer has the files that you chose" in shown_text(app)
    # Another place for files, as the browser shows the lost ones in the first.
    assert [place.key for place in app.file_uploader] == [f"{UPLOAD} 1"]


def test_no_file_of_a_known_format(loading, dataset) -> None:
    app = loading
    app.file_uploader(key=UPLOAD).set_value([("notes.txt", b"nothing here", "text/plain")]).run()
    assert "No annotation file here" in shown_text(app)
    assert not app.exception


def test_a_folder_on_the_server(open_page, write_dataset, dataset, tmp_path, monkeypatch) -> None:
    write_dataset(f"{dataset} renamed", [("country", ("cow",), 1)], mine=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cars.csv").write_bytes(ROWS)
    (tmp_path / "picture.jpg").write_bytes(b"\xff\xd8\xff")
    monkeypatch.setenv("COBALANCE_IMPORTS", str(tmp_path / "data"))
    app = open_page("datasets", dataset=f"{dataset} renamed", ds_view="Load annotations")
    widget(app, "button_group", "Annotations from").set_value("On the server").run()
    assert widget(app, "text_input", "Dataset").value == "cars"
    app.text_input(key="_import_path").input("x" * 5000).run()
    assert "Name a folder that is there" in shown_text(app)
    for outside in ("..", "../picture.jpg", str(tmp_path), "/etc/passwd"):
        app.text_input(key="_import_path").input(outside).run()
        assert "COBALANCE_IMPORTS" in shown_text(app)
        assert not [b for b in app.button if b.key == "_import_load"]


@pytest.mark.parametrize("is_allowed", [True, False])
def test_images_beside_annotations_on_the_server_are_kept_where_they_are_allowed(
    loading, dataset, tmp_path, monkeypatch, settings, is_allowed
) -> None:
    data, images = tmp_path / "data", tmp_path / "data" / "images"
    data.mkdir()
    if is_allowed:
        images.mkdir()
    else:
        (tmp_path / "others").mkdir()
        images.symlink_to(tmp_path / "others")
    for row in range(2):
        Image.new("RGB", (4, 3), "green").save(images / f"{row} of {dataset}.png")
    rows = "".join(f"{row} of {dataset}.png,{'ab'[row]},sofa\n" for row in range(2))
    (data / "pets.csv").write_text(f"file_name,class,concepts\n{rows}")
    monkeypatch.setenv("COBALANCE_IMPORTS", str(data))
    app = loading.run()
    widget(app, "button_group", "Annotations from").set_value("On the server").run()
    widget(app, "text_input", "Dataset").input(dataset)
    app = check(app)
    app.button(key="_import_load").click().run()
    app = run_tasks(app)
    assert not app.exception
    said = shown_text(app).replace("\\", "")
    if is_allowed:
        assert f"Images: 2 of 2 files found; {images} is kept for later commands." in said
        assert settings.folders().image_roots(dataset)[0] == str(images)
        assert str(images) not in settings.folders().image_roots()
    else:
        assert "Images: 2 of 2 files not found, such as " in said
        assert "Set “Image folders” on the Data page to the folder" in said
        assert str(tmp_path / "others") not in settings.folders().image_roots(dataset)


def test_on_one_s_own_machine_every_folder_can_be_named(
    loading, dataset, tmp_path, monkeypatch
) -> None:
    (tmp_path / "cars.csv").write_bytes(ROWS[: ROWS.index(b"5,")])
    options = {"server.address": "127.0.0.1"}
    others = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: options.get(name) or others(name))
    app = loading.run()
    widget(app, "button_group", "Annotations from").set_value("On the server").run()
    app.text_input(key="_import_path").input(str(tmp_path / "cars.csv")).run()
    widget(app, "text_input", "Dataset").input(dataset)
    assert table(check(app), "In the files")["Images to load"] == 4
    # Behind a proxy, others come.
    options["browser.serverAddress"] = "cars.example.org"
    choice = widget(app.run(), "button_group", "Annotations from")
    assert list(choice.options) == ["Files", "A folder"]


def test_without_a_folder_there_are_uploads_only(loading) -> None:
    choice = widget(loading, "button_group", "Annotations from")
    assert list(choice.options) == ["Files", "A folder"]


def test_a_folder_of_images_is_added_and_removed(
    open_page, cars, tmp_path, monkeypatch, settings
) -> None:
    pets = tmp_path / "data" / "pets"
    pets.mkdir(parents=True)
    (pets / "1.jpg").write_bytes(b"")
    monkeypatch.setenv("COBALANCE_IMPORTS", str(tmp_path / "data"))
    monkeypatch.setenv("COBALANCE_IMAGES", "s3://user:secret@bucket")
    app = open_page("datasets", dataset=cars, ds_view="Image folders")
    assert "s3://user:***@bucket" in shown_text(app)
    choice = widget(app, "selectbox", "Folder or ZIP file of images")
    assert choice.options == [str(pets)]
    choice.select_index(0).run()
    app.button(key="_places add").click().run()
    assert not app.exception
    assert pets in read_added(Path(settings.cobalance_home))
    assert widget(app, "selectbox", "Folder or ZIP file of images").options == []
    (remove,) = (b for b in app.button if b.key == f"_place_remove {pets}")
    remove.click().run()
    assert pets not in read_added(Path(settings.cobalance_home))

    widget(app, "selectbox", "Of").select(cars).run()  # for one dataset alone
    widget(app, "selectbox", "Folder or ZIP file of images").select_index(0).run()
    app.button(key="_places add").click().run()
    assert "added for it alone" in shown_text(app)
    assert str(pets) in settings.folders().image_roots(cars)
    assert str(pets) not in settings.folders().image_roots()


def test_a_check_shows_the_images_or_where_they_were_looked_for(
    loading, dataset, tmp_path, monkeypatch, settings
) -> None:
    folder = tmp_path / "data" / "photos"
    (folder / "a").mkdir(parents=True)
    for row in range(6):
        Image.new("RGB", (40, 30), "green").save(folder / "a" / f"{row}.png")
    (folder / "a" / "5.png").write_bytes(b"no picture")
    monkeypatch.setenv("COBALANCE_IMPORTS", str(tmp_path / "data"))
    rows = "".join(
        f"a/{row}.png,{'cat' if row % 2 else 'dog'},"
        + json.dumps([{"concept": "sofa", "box": [1, 2, 3, 4]}]).replace('"', '""').join('""')
        + "\n"
        for row in range(6)
    )
    file = ("pets.csv", f"path,class,objects\n{rows}".encode(), "text/csv")
    app = check(choose_files(loading, dataset, file))
    assert not app.exception
    assert "6 of these 6 image files are not found" in shown_text(app)
    assert not app.get("image")
    (add,) = (b for b in app.button if b.key == "_proof found 0")
    add.click().run()  # what was looked for is there
    assert [place.path for place in added_places(settings.folders(), dataset)] == [folder]
    assert added_places(settings.folders()) == []
    assert "are not found" not in shown_text(app)
    assert len(app.get("image")) == 6
    assert [caption.value for caption in app.caption].count("sofa") == 6
    assert not app.button(key="_import_load").disabled


@pytest.mark.parametrize("is_agreed", [False, True])
def test_many_uploaded_pictures_are_kept_if_a_person_says_so(
    loading, dataset, settings, monkeypatch, is_agreed
) -> None:
    monkeypatch.setattr("cobalance.app.web.page.load.checked._MUCH_ROOM_BYTES", 0)
    rows = b"path,class,objects\n1.jpg,cat,sofa\n2.jpg,dog,sofa\n"
    pictures = archive({"1.jpg": pixels(), "2.jpg": pixels()})
    files = (("pets.csv", rows, "text/csv"), ("pets.zip", pictures, "application/zip"))
    app = check(choose_files(loading, dataset, *files))
    assert len(app.get("image")) == 2
    (keep,) = (box for box in app.checkbox if box.label.startswith("Keep the 2 pictures"))
    if is_agreed:
        keep.check().run()
    app.button(key="_import_load").click().run()
    app = run_tasks(app)
    message = f"Images: 2 of 2 files {'' if is_agreed else 'not '}found"
    assert message in shown_text(app).replace("\\", "")
    assert bool(settings.folders().uploaded_pictures(dataset)) == is_agreed


def test_rename_takes_the_page_along(open_page, cars, store) -> None:
    app = open_page("datasets", dataset=cars, ds_view="Details")
    app.button(key="_rename").click().run()
    app.text_input(key="_new_name").input(f" {cars} \u200brenamed ").run()
    app.button(key="_rename_now").click().run()
    run_tasks(app)
    assert find_dataset(store, cars) is None
    dataset_state(store, f"{cars} renamed").require_mined()
    assert app.session_state["dataset"] == f"{cars} renamed"


def test_a_drop_needs_the_name_typed(open_page, cars, store) -> None:
    app = open_page("datasets", dataset=cars, ds_view="Details")
    app.button(key="_drop").click().run()
    assert app.button(key="_drop_now").disabled
    app.text_input(key="_drop_name").input(cars[:-1]).run()
    assert app.button(key="_drop_now").disabled
    app.text_input(key="_drop_name").input(f" {cars}").run()
    app.button(key="_drop_now").click().run()
    run_tasks(app)
    assert find_dataset(store, cars) is None
    assert not app.exception


def test_a_sample_keeps_every_count(loading, store, dataset) -> None:
    rows = "".join(f"{i},{'a' if i % 3 else 'b'},x|y\n" for i in range(90))
    file = ("cars.csv", f"id,label,objects\n{rows}".encode(), "text/csv")
    app = choose_files(loading, dataset, file)
    (kept,) = (group for group in app.button_group if group.label == "Images in the graph")
    assert kept.value is False
    kept.set_value(True).run()
    app = check(app)
    assert list(table(app, "In the dataset, after loading").values()) == [90, 0, 0, 0, 0]
    app.button(key="_import_load").click().run()
    run_tasks(app)
    state = dataset_state(store, dataset)
    assert state.sample.per_class == 12
    assert class_sizes(store, dataset) == {"a": 60, "b": 30}


def test_who_may_only_look_sees_no_way_to_change(open_page, cars, monkeypatch) -> None:
    monkeypatch.setattr("cobalance.app.web.page.load.page.may_edit", lambda: False)
    monkeypatch.setattr("cobalance.app.web.widgets.messages.may_edit", lambda: False)
    app = open_page("datasets", dataset=cars, ds_view="Details")
    assert table(app, "Dataset")[cars] == 20
    assert "only editors can load" in shown_text(app)
    keys = {button.key for button in app.button}
    assert keys.isdisjoint({"_ds_mine", "_rename", "_drop", "_import_load"})
    assert not app.file_uploader


def test_an_interrupted_load_says_so(open_page, cars, store) -> None:
    store.write("MATCH (d:Dataset {name: $name}) SET d.digest = null", name=cars)
    app = open_page("datasets", dataset=cars, ds_view="Details")
    assert "did not end" in shown_text(app)
    assert app.button(key="_ds_mine").disabled
    assert not app.exception


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (b"1,country,cow\n2,country,road\n", "All 2 images have one class, 'country'"),
        (b"1,country,\n2,urban,\n", "No image shows a concept"),
        (b"1,country,cow\n2,urban,road\n", "No concept occurs in images of two classes"),
    ],
)
def test_a_load_that_would_compare_nothing_is_not_offered(loading, dataset, rows, reason) -> None:
    file = ("cars.csv", b"id,label,objects\n" + rows, "text/csv")
    app = check(choose_files(loading, dataset, file))
    assert reason in shown_text(app).replace("\\", "")
    assert not [b for b in app.button if b.key == "_import_load"]


def test_one_class_may_join_others(loading, write_dataset, dataset) -> None:
    write_dataset(dataset, [("urban", ("cow",), 2)], mine=False)
    rows = b"id,label,objects\n1,country,cow\n2,country,road\n"
    app = choose_files(loading, dataset, ("cars.csv", rows, "text/csv"))
    refused = shown_text(check(app)).replace("\\", "")
    assert "“Images that the dataset has” set to “Add these to them”" in refused
    widget(app, "selectbox", "Images that the dataset has").select("Add these to them")
    assert not check(app).button(key="_import_load").disabled
    rows = rows.replace(b"country", b"urban")
    app = choose_files(loading, dataset, ("cars.csv", rows, "text/csv"))
    widget(app, "selectbox", "Images that the dataset has").select("Add these to them")
    app = check(app)
    assert "one class, 'urban'" in shown_text(app).replace("\\", "")


def test_many_images_left_out_have_to_be_agreed_to(loading, dataset) -> None:
    classes = "".join(f"{row},{'country' if row % 2 else 'urban'}\n" for row in range(8))
    images = "".join(f"{row},cow\n" for row in range(12))
    app = choose_files(
        loading,
        dataset,
        ("cars.csv", f"id,objects\n{images}".encode(), "text/csv"),
        ("classes.csv", f"id,label\n{classes}".encode(), "text/csv"),
    )
    files = widget(app, "selectbox", "Annotation file")
    files.select_index(files.options.index("cars.csv (csv)")).run()
    widget(app, "text_input", "Dataset").input(dataset)
    (ways,) = (group for group in app.button_group if "Another file" in group.options)
    ways.set_value("Another file").run()
    widget(app, "selectbox", "Table of image id or file name, and class").select(
        "classes.csv"
    ).run()
    app = check(app)
    assert "4 of 12 would be left out: 4 images without a class in classes.csv" in shown_text(
        app
    ).replace("\\", "")
    assert app.button(key="_import_load").disabled
    (agree,) = (box for box in app.checkbox if box.label == "Load without these 4")
    agree.check().run()
    assert not app.button(key="_import_load").disabled


def test_captions_are_kept_beside_the_dataset(loading, settings, dataset) -> None:
    captions = [{"image_id": 1, "caption": "A cow."}, {"image_id": 3, "caption": "A road."}]
    images = [{"id": number, "file_name": f"{number}.jpg"} for number in (1, 3)]
    found = json.dumps({"images": images, "annotations": captions}).encode()
    app = choose_files(loading, dataset, CSV, ("captions.json", found, "application/json"))
    files = widget(app, "selectbox", "Annotation file")
    files.select_index(files.options.index("cars.csv (csv)")).run()
    widget(app, "text_input", "Dataset").input(dataset)
    widget(app, "selectbox", "Malformed records").select("skip")
    widget(app, "selectbox", "Captions to keep").select("captions.json").run()
    check(app).button(key="_import_load").click().run()
    run_tasks(app)
    texts = read_image_texts(settings.folders().captions, dataset)
    assert dict(zip(texts["id"], texts["captions"], strict=True)) == {
        "1": ["A cow."],
        "3": ["A road."],
    }
