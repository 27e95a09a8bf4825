"""`cobalance gate`: exit codes, files and what it says."""

import json

import pytest

from tests.app.cli.calling import call
from tests.workflows.gate.drawn import records

EVEN = {"cow": (0.2, 0.2), "traffic light": (0.3, 0.3)}
LEANING = EVEN | {"cow": (0.4, 0.1)}


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Call the command in a folder of its own, without any database."""
    monkeypatch.chdir(tmp_path)
    environment = {"HOME": str(tmp_path), "NEO4J_URI": "bolt://127.0.0.1:1"}
    return lambda *arguments: call(environment, "gate", *arguments)


def write(path, images):
    lines = [
        f"{image.id}.jpg,{image.class_name},{'|'.join(m.concept for m in image.mentions)}"
        for image in images
    ]
    path.write_text("\n".join(["image,class,concepts", *lines]) + "\n")


def test_a_file_passes_fails_and_passes_with_its_baseline(gate, tmp_path):
    write(tmp_path / "cars.csv", records(0, 500, EVEN))
    passed = gate("cars.csv")
    assert (passed.returncode, passed.stderr) == (0, "")
    assert passed.stdout == "cars.csv passes: no finding; 3 combinations tested.\n"

    write(tmp_path / "cars.csv", records(0, 500, LEANING))
    failed = gate("cars.csv", "--also", "metrics=m.json", "--also", "markdown=m.md")
    assert failed.returncode == 3
    first, worst, command, *_ = failed.stdout.splitlines()
    assert first.startswith("cars.csv breaks a rule: 2 new; ")
    assert worst.startswith("new    cow is in ")
    assert command.strip() == "Images: cobalance gate cars.csv --images-of cow"
    assert json.loads((tmp_path / "m.json").read_text())["new"] == 2
    assert (tmp_path / "m.md").read_text().startswith("### :x: cobalance gate")

    written = gate("cars.csv", "--baseline-file", "b.json", "--write-baseline")
    assert (written.returncode, written.stdout) == (0, "")
    assert written.stderr == "b.json: 2 findings are known from now on.\n"
    known = gate("cars.csv", "--baseline-file", "b.json", "--as", "json")
    assert known.returncode == 0
    assert {part["status"] for part in json.loads(known.stdout)["findings"]} == {"known"}


def test_the_command_that_it_names_lists_the_images(gate, tmp_path):
    images = records(0, 500, LEANING)
    write(tmp_path / "cars.csv", images)
    both = {"cow", "traffic light"}
    n = sum(both <= {mention.concept for mention in image.mentions} for image in images)
    shown = gate("cars.csv", "--images-of", "cow", "--images-of", "traffic light", "--limit", "5")
    assert shown.returncode == 0
    assert shown.stderr == f"{n} images.\n"
    assert shown.stdout.count(".jpg") == 10  # id and uri


def test_rules_name_data_and_baseline_beside_them(gate, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder / "cars.csv", records(0, 500, LEANING))
    rules = folder / "rules.toml"
    rules.write_text('data = "cars.csv"\nbaseline = "b.json"\n[read]\nclass_column = "class"\n')
    missing = gate("--rules", rules)
    assert missing.returncode == 1
    assert "b.json: cannot be read" in missing.stderr
    assert gate("--rules", rules, "--write-baseline").returncode == 0
    assert (folder / "b.json").exists()
    assert gate("--rules", rules).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Name a file or dataset"),
        (("none.csv",), 1, "none.csv"),
        (("cars.csv", "--write-baseline"), 2, "--write-baseline needs --baseline-file FILE"),
        (("cars.csv", "--also", "metrics"), 2, "is not FORMAT=FILE"),
        (("cars.csv", "--also", "pdf=x"), 2, "is not FORMAT=FILE"),
        (("cars.csv", "--watch", "train,test"), 2, "split 'train'"),
        (("cars.csv", "--watch", "train"), 2, "Give --watch two splits"),
        (("cars.csv", "--images-of", "boat"), 2, "concept 'boat'"),
        (("cars.csv", "--rules", "bad.toml"), 1, "bad.toml, max_q: is no rule"),
        (("cars.csv", "--rules", "sea.toml"), 2, "concept or column 'sea'"),
        (("cars.csv", "--rules", "files.toml"), 1, "needs properties of image files"),
        (("cars.csv", "--baseline-file", "bad.toml"), 1, "bad.toml: invalid JSON"),
        (("cars.csv", "--rules", "read.toml"), 2, "of reading min_score: input should be a valid"),
        (("cars.csv", "--rules", "name.toml"), 2, "option of reading 'clas'"),
        (("empty.csv",), 1, "empty.csv"),
    ],
)
def test_what_cannot_be_judged_never_passes(gate, tmp_path, arguments, code, message):
    write(tmp_path / "cars.csv", records(0, 20, EVEN))
    (tmp_path / "empty.csv").write_text("image,class,concepts\n")
    (tmp_path / "bad.toml").write_text("max_q = 1\n")
    (tmp_path / "sea.toml").write_text('[[leans]]\nconcepts = ["sea"]\n')
    (tmp_path / "files.toml").write_text("max_property_auc = 0.7\n")
    (tmp_path / "read.toml").write_text('[read]\nmin_score = "much"\n')
    (tmp_path / "name.toml").write_text('[read]\nclas = "label"\n')
    refused = gate(*arguments)
    assert refused.returncode == code, refused.stderr
    assert message in refused.stderr
    assert refused.stdout == ""
    assert refused.stderr.count("\n") <= 2


def test_categories_are_classes_as_rules_say(gate, tmp_path):
    categories = {1: "cow", 2: "dog", 3: "sea"}
    images, annotations = [], []
    for number in range(400):
        images.append({"id": number, "file_name": f"{number}.jpg", "width": 9, "height": 9})
        shown = [1 + number % 2, 3] if number % 2 or number % 8 == 0 else [1]
        for category in shown:
            place = {"image_id": number, "category_id": category, "bbox": [0, 0, 5, 5]}
            annotations.append({"id": len(annotations), "area": 25, "iscrowd": 0, **place})
    named = [{"id": code, "name": name} for code, name in categories.items()]
    content = {"images": images, "annotations": annotations, "categories": named}
    (tmp_path / "instances.json").write_text(json.dumps(content))
    rules = tmp_path / "rules.toml"
    rules.write_text('[read]\nclass_category = ["cow", "dog"]\n')

    failed = gate("instances.json", "--rules", rules)
    assert failed.returncode == 3, failed.stderr
    assert "sea is in 100.0% of dog and 25.0% of cow" in failed.stdout


def test_a_baseline_of_another_version_is_refused(gate, tmp_path):
    write(tmp_path / "cars.csv", records(0, 200, LEANING))
    gate("cars.csv", "--baseline-file", "b.json", "--write-baseline")
    file = tmp_path / "b.json"
    file.write_text(file.read_text().replace('"version": 1', '"version": 9'))
    refused = gate("cars.csv", "--baseline-file", "b.json")
    assert refused.returncode == 1
    assert "is of version 9" in refused.stderr
