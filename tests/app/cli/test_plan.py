"""Plans that edit images, from the command line to the job."""

import json
import shlex

import pytest

from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.jobs.rounds import read_query_progress
from cobalance.graph.jobs.status import read_job
from tests.app.cli.conftest import ORDER

BASIS = ("--consent", "All shown have agreed.")
ROWS = """id,class,concepts,split
1,man,tie|dog,train
2,woman,tie,train
3,man,,train
4,man,dog,train
5,woman,dog,test
6,man,tie,train
"""
CAPTIONS = """id,caption
1,Snow
1,A man and his dog
2,"A woman in a tie, on her way"
3,A man
4,A boy and a dog
5,A woman
"""


@pytest.fixture
def captioned(run, dataset, tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "captions.csv").write_text(CAPTIONS)
    captions = ("--captions", tmp_path / "captions.csv")
    run("ingest", tmp_path / "people.csv", "--dataset", dataset, *captions)
    return dataset


def follow(run, done):
    """Run the order that a command names as the next one."""
    line = next(line for line in done.stderr.splitlines() if line.startswith("Next: "))
    return run(*shlex.split(line.removeprefix("Next: cobalance ")), "--without-images")


def test_the_next_lines_lead_from_the_plan_to_the_job(run, captioned, store):
    done = run("plan-edits", captioned, "--recipe", "resampled", "--groups", "woman,man")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["edited", "3"] in rows
    assert ["to", "make:", "woman", "3"] in rows
    assert ["left", "out:", "images", "whose", "captions", "name", "children", "1"] in rows
    assert ["left", "out:", "images", "without", "captions", "1"] in rows
    assert ["left", "out:", "images", "of", "other", "splits", "1"] in rows
    assert "The plan asks for 6 images (3 man, 3 woman) in 6 queries." in done.stdout
    ordered = follow(run, done)
    assert "6 images in 6 queries, by the recipe resampled" in ordered.stderr
    job = ordered.stdout.strip()
    assert f"Next: cobalance work --until-idle; then: cobalance rebalance {job}" in ordered.stderr
    assert read_job(store, job).settings["consent"] == "BASIS"
    assert read_job(store, job).settings["split"] == "train"
    progress = read_query_progress(store, job)
    assert [(one.edit.source_image, one.class_name) for one in progress] == [
        (image, group) for image in "123" for group in ("woman", "man")
    ]
    assert progress[0].edit.caption == "A woman and her dog"
    assert progress[0].edit.captions == ("Snow", "A woman and her dog")
    assert progress[3].edit.caption == "A man in a tie, on his way"
    assert "resampled" in run("jobs", job).stdout


def test_a_plan_as_json_is_a_file_to_order(run, captioned, store, tmp_path):
    file = tmp_path / "plan.json"
    run("plan-edits", captioned, "--recipe", "resampled", "-f", "json", "-o", file)
    found = json.loads(file.read_text())
    assert found["planner"] == "resampled"
    assert found["summary"] == {
        "sources": 3,
        "images": {"man": 3, "woman": 3},
        "left_out": {
            "images of other splits": 1,
            "images whose captions name children": 1,
            "images without captions": 1,
        },
    }
    done = run(*ORDER, captioned, "--recipe", "resampled", "--plan-file", file, *BASIS)
    progress = read_query_progress(store, done.stdout.strip())
    assert [one.edit.source_image for one in progress] == list("112233")
    listed = run("plan-edits", captioned, "--recipe", "resampled", "-f", "csv").stdout
    assert listed.count("\n") == 7


def test_whole_images_are_chosen(run, captioned, store):
    plan = ("plan-edits", captioned, "--recipe", "resampled", "--name")
    run(*plan, "ties", "--concept", "tie")
    assert [one.edit.source_image for one in read_plan(store, captioned, "ties")] == list("1122")
    run(*plan, "both", "--clique", "dog + tie", "--clique", '["nothing", "dog"]', exit_code=2)
    run(*plan, "both", "--clique", "dog + tie")
    assert [one.edit.source_image for one in read_plan(store, captioned, "both")] == list("11")
    run(*plan, "one", "--limit", 1, "--children", "keep")
    assert len({one.edit.source_image for one in read_plan(store, captioned, "one")}) == 1
    done = run(
        *plan, "old", "--words", "coco-gb", "--words", "age",
        "--groups", "elderly man", "--groups", "young woman",
    )  # fmt: skip
    assert "6 images (3 elderly man, 3 young woman)" in done.stdout
    said = follow(run, done).stderr
    assert "6 images in 6 queries" in said


def test_a_plan_for_other_images_is_made_again_with_its_options(run, captioned, tmp_path):
    chosen = ["--groups", "man,woman", "--clique", "dog + tie", "--captions", "one-group"]
    run("plan-edits", captioned, "--recipe", "resampled", *chosen)
    (tmp_path / "more.csv").write_text(ROWS + "7,man,dog|tie,train\n")
    run("ingest", tmp_path / "more.csv", "--dataset", captioned)
    order = (*ORDER, captioned, "--recipe", "resampled", *BASIS)
    said = run(*order, exit_code=1).stderr
    assert "was made for other images than the dataset has now" in said
    again = said.partition("`cobalance ")[2].rpartition("`")[0]
    assert shlex.split(again)[2:6] == ["--recipe", "resampled", "--groups", "man"]
    assert "2 images (1 man, 1 woman)" in run(*shlex.split(again)).stdout
    run(*order)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--recipe", "paste"], "The recipe paste edits no images"),
        (["--recipe", "nope"], "unknown recipe 'nope'"),
        (["--recipe", "resampled", "--split", "test"], "with --split train (the dataset has"),
        (
            ["--recipe", "resampled-control", "--split", "train"],
            "Name the test split with --split;",
        ),
        (["--recipe", "resampled", "--groups", "woman"], "Name two or more with --groups."),
        (["--recipe", "resampled", "--groups", "woman,dog"], "unknown group 'dog'. Known: man, w"),
        (["--recipe", "resampled", "--words", "nope"], "unknown word list 'nope'"),
        (["--recipe", "resampled", "--made", "some"], "unknown choice of what is made 'some'"),
        (["--recipe", "resampled", "--budget", "9"], "No such option: --budget"),
        (["--limit", "9"], "Missing option '--recipe'"),
        (["--recipe", "resampled", "--concept", "zebra"], "unknown concept 'zebra'"),
        (["--recipe", "resampled", "--clique", "[3]"], "is no list of names in JSON"),
        (["--recipe", "resampled", "--words", "women-also-snowboard"], "has no pairs, by which"),
    ],
)
def test_a_plan_that_cannot_be_made(run, captioned, options, said):
    assert said in run("plan-edits", captioned, *options, exit_code=2).stderr


def test_captions_are_needed(run, dataset, tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    run("ingest", tmp_path / "people.csv", "--dataset", dataset)
    said = run("plan-edits", dataset, "--recipe", "resampled", exit_code=1).stderr
    assert (
        "none of them has any. Run `cobalance ingest FILE --captions captions.json` to add" in said
    )
    ties = ("--recipe", "pinpoint", "--concept", "tie", "--limit", 2)
    assert "4 images (2 man, 2 woman)" in run("plan-edits", dataset, *ties).stdout


def test_people_are_not_painted_without_consent(run, captioned, store):
    order = (*ORDER, captioned, "--recipe")
    said = run(*order, "resampled", exit_code=1).stderr
    assert f"Run `cobalance plan-edits '{captioned}' --recipe resampled`." in said
    for recipe in ("resampled", "pinpoint", "resampled-control"):
        run("plan-edits", captioned, "--recipe", recipe)
        said = run(*order, recipe, exit_code=2).stderr
        assert "--consent BASIS; it is kept with the job" in said
    said = run(*order, "pinpoint", *BASIS, exit_code=2).stderr
    assert "part of a real person stays" in said
    assert "--alters-real-people" in said
    assert "There is no job" in run("jobs", "-d", captioned).stderr
    done = run(*order, "pinpoint", *BASIS, "--alters-real-people")
    settings = read_job(store, done.stdout.strip()).settings
    assert (settings["consent"], settings["alters_real_people"]) == (BASIS[1], True)
    assert "for research and evaluation alone. For commercial use take other weights" in done.stderr
    assert "The segmenter people takes its default model, which is under this" in done.stderr
    own = ("--set", "parts=clipseg", "--set", 'parts_options={texts=["skin"]}')
    own += ("--set", "segmenter=sam")
    done = run(*order, "pinpoint", *BASIS, "--alters-real-people", *own)
    assert "commercial" not in done.stderr
    objects = ("--set", 'masks.object=["dog", "cat"]')
    settings = read_job(store, run(*order, "resampled", *objects).stdout.strip()).settings
    assert "consent" not in settings


def test_a_recipe_that_edits_images_takes_no_other_plan(run, captioned):
    run("mine", captioned)
    run("plan", captioned, "--min-size", 1)
    said = run(
        *ORDER, captioned, "--plan", "conbias", "--recipe", "resampled", *BASIS, exit_code=2
    ).stderr
    assert "edits images, and the plan 'conbias' asks for images of classes and concepts" in said


def test_planners_beside_each_other(run, cars):
    order = ("compare", "planners", cars, "--min-size", 1, "--set", "minimal.seconds=0.2")
    found = {
        (row["planner"], row["setting"]): row
        for row in json.loads(run(*order, "-f", "json").stdout)
    }
    names = ["conbias", "minimal", "published", "over-sampling", "sub-sampling", "weights"]
    assert [planner for planner, setting in found if not setting] == names
    images = found["conbias", ""]["images"]
    assert found["conbias", f"budget={images}"]["gap_after"] == 0
    assert found["minimal", "tolerance=0.5"]["images"] < images
    assert found["minimal", "tolerance=0.5"]["dataset"] is None
    assert "minimal" in run(*order).stdout
    assert "unknown planner 'least'" in run(*order, "--set", "least.gap=1", exit_code=2).stderr
    assert "is no option of a planner" in run(*order, "--set", "minimal=1", exit_code=2).stderr
    options = ("--min-size", 1, "--planner", "minimal", "--set", "max_per_class=1")
    said = run("plan", cars, *options, exit_code=2).stderr
    assert "Raise --set max_per_class=..., allow a larger tolerance, or give a --budget." in said


@pytest.fixture
def load(run, dataset, tmp_path):
    """Load and mine images, given as (class, concepts, how many)."""

    def load(*groups):
        rows = [(name, shows) for name, shows, n in groups for _ in range(n)]
        lines = [f"{i},{name},{shows}\n" for i, (name, shows) in enumerate(rows)]
        (tmp_path / "images.csv").write_text("id,class,concepts\n" + "".join(lines))
        run("ingest", tmp_path / "images.csv", "--dataset", dataset)
        run("mine", dataset)
        return dataset

    return load


def test_a_budget_on_the_largest_gaps_first(run, load):
    dataset = load(("a", "cow", 9), ("b", "cow", 1), ("a", "gate", 4), ("b", "gate", 1))
    options = ("--min-size", 1, "--budget", 5, "--format", "json")
    first = json.loads(run("plan", dataset, *options, "--largest-first").stdout)
    assert [(one["concepts"], one["n"]) for one in first["queries"]] == [(["cow"], 5)]
    evenly = json.loads(run("plan", dataset, *options).stdout)
    assert len(evenly["queries"]) == 2


def test_gaps_that_a_plan_widens_are_named(run, load):
    # b lacks x+y, and has more of x and of y alone
    done = run("plan", load(("a", "x|y", 4), ("b", "x", 6), ("b", "y", 6)))
    widened = (
        "The plan widens 2 gaps: x (2 \N{RIGHTWARDS ARROW} 6 images), y (2 \N{RIGHTWARDS ARROW} 6"
    )
    assert widened in " ".join(done.stderr.split())
