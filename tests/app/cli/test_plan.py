"""Plans that edit images, from the command line to the job."""

import json
import re
import shlex

import pytest

from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import query_id
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
    assert "resampled" in run("jobs", "show", job).stdout


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
    run(*plan, "one", "--max-images", 1, "--children", "keep")
    assert len({one.edit.source_image for one in read_plan(store, captioned, "one")}) == 1
    done = run(
        *plan, "old", "--words", "coco-gb", "--words", "age",
        "--groups", "elderly man", "--groups", "young woman",
    )  # fmt: skip
    assert "6 images (3 elderly man, 3 young woman)" in done.stdout
    said = follow(run, done).stderr
    assert "6 images in 6 queries" in said


def test_a_plan_for_other_images_is_made_again_with_its_options(run, captioned, tmp_path):
    chosen = ["--groups", "man,woman", "--clique", "dog + tie", "--edit-captions", "one-group"]
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
        (["--max-images", "9"], "Missing option '--recipe'"),
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
    ties = ("--recipe", "pinpoint", "--concept", "tie", "--max-images", 2)
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
    assert "There is no job" in run("jobs", "list", "-d", captioned).stderr
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
    run("plan", captioned, "--planner", "conbias", "--min-size", 1)
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
    names = ["conbias", "minimal", "published", "whole-images"]
    names += ["over-sampling", "sub-sampling", "weights", "pruning"]
    assert [planner for planner, setting in found if not setting] == names
    images = found["conbias", ""]["images"]
    assert found["conbias", "budget=10"]["images"] <= 10
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


def test_a_budget_goes_to_what_has_evidence(run, load):
    dataset = load(("a", "cow", 30), ("b", "cow", 4), ("a", "gate", 9), ("b", "gate", 29))
    options = ("--planner", "conbias", "--min-size", 1, "--budget", 5, "--format", "json")
    first = json.loads(run("plan", dataset, *options).stdout)
    assert [(one["class"], one["concepts"], one["n"]) for one in first["queries"]] == [
        ("b", ["cow"], 5)
    ]


@pytest.fixture
def leaning(load):
    """Cows and roads with a, signs with b."""
    return load(
        *(("a", "cow|road", 50), ("a", "cow", 20), ("a", "sign", 30)),
        *(("b", "sign|road", 50), ("b", "sign", 20), ("b", "cow", 30)),
    )


def test_whole_images_are_the_default_and_say_what_they_are_worth(run, leaning, store):
    done = run("plan", leaning)
    assert "lean to a class" in done.stdout
    said = " ".join(done.stderr.split())
    assert "Cliques that lean to a class: " in said
    assert "of 1 bit of the class; 0 is no shortcut." in said
    assert "no mix of these sets with as many images of each class gets below" in said

    # A tenth neither halves the largest difference nor ends one lean in ten.
    start, n_start, half, n_half = re.search(
        r"(A start): ([\d,]+) images, .* (Halve it) \(this plan\): ([\d,]+) images, ", said
    ).groups()
    assert (start, n_start, half) == ("A start", "20", "Halve it")
    assert "To choose another: --budget." in said
    before, after = re.search(r"largest difference is ([\d.]+)% → ([\d.]+)%", said).groups()
    assert float(after) <= float(before) / 2
    queries = read_plan(store, leaning, "whole-images")
    assert sum(query.n for query in queries) == int(n_half) > 20
    assert f"The plan asks for {n_half} images" in done.stdout
    assert all(2 <= len(query.sources) <= 5 for query in queries)
    written = json.loads(run("plan", leaning, "-f", "json").stdout)
    assert [one["sources"] for one in written["queries"]] == [[*one.sources] for one in queries]
    assert written["options"] == {"min_size": 1, "max_size": 4, "budget": int(n_half)}


def test_a_plan_for_chosen_cliques(run, leaning, store):
    run("plan", leaning, "--clique", "cow + road", "--budget", 8, "--name", "one")
    assert sum(query.n for query in read_plan(store, leaning, "one")) == 8
    said = run("plan", leaning, "--clique", "cow + sign", exit_code=2).stderr
    assert "Mining found no clique 'cow + sign' to plan for: no image" in " ".join(said.split())


def test_a_plan_goes_on_with_what_a_job_has_accepted(run, leaning, store):
    """Of each query's images the first is rejected: as many are planned again."""
    run("plan", leaning, "--budget", 40)
    job = run(*ORDER, leaning).stdout.strip()
    wanted = read_query_progress(store, job)
    planned = read_plan(store, leaning, "whole-images")
    assert [query.sources for query in wanted] == [query.sources for query in planned]
    for query in wanted:
        made = [
            NewCandidate(f"{query_id(job, query.position)}/{at}", None, state)
            for at, state in enumerate(["rejected", *["accepted"] * (query.n - 1)])
        ]
        record_made(store, job, {query_id(job, query.position): made})
    run("plan", leaning, "--continue", job, "--name", "rest")
    again = read_plan(store, leaning, "rest")
    assert 0 < sum(query.n for query in again) <= len(wanted)
    both = run("plan", leaning, "--continue", job, "--continue", "nope", exit_code=1).stderr
    assert "nope" in both


def test_rates_that_a_plan_draws_apart_are_named(run, load):
    # A quarter of both classes; by count b lacks 75.
    groups = ("a", "x", 100), ("a", "y", 300), ("b", "x", 25), ("b", "y", 75)
    done = run("plan", load(*groups), "--planner", "conbias", "--min-size", 1)
    said = " ".join(done.stderr.split())
    assert "The plan makes something worse" not in said  # all gaps are closed
    assert "Cliques that lean to a class: 0 \N{RIGHTWARDS ARROW} 0" in said
    published = ("--planner", "minimal", "--set", 'weights=["y=0"]', "--min-size", 1)
    said = " ".join(run("plan", load(*groups), *published).stderr.split())
    assert "The plan widens 2 rate differences: " in said
    assert "x (0.0% \N{RIGHTWARDS ARROW} 32.1%)" in said
    assert "The plan makes something worse: the largest rate difference grows (0.0%" in said
