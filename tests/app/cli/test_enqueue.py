"""Orders from the command line: settings, plans, and what workers need."""

import json
import os
import shlex

import pytest

from cobalance.app.cli.shared.assignments import read_settings
from cobalance.generation.backends import BACKENDS
from cobalance.generation.filters import FILTERS
from cobalance.generation.recipes import RECIPES
from cobalance.graph.jobs.status import read_job
from tests.app.cli.calling import call, run_without
from tests.app.cli.conftest import ORDER, ROWS, SMALL


def test_a_plan_is_ordered_again_with_its_options(run, planned, tmp_path):
    options = ["--name", "a small one", "--min-size", 1, "--max-size", 1, "--budget", 2]
    run("plan", planned, "--planner", "conbias", *options)
    (tmp_path / "cars.csv").write_text(ROWS + "99,urban,cow\n")
    run("ingest", tmp_path / "cars.csv", "--dataset", planned)
    run("mine", planned, "--max-size", 2)
    said = run(*ORDER, planned, "--plan", "a small one", exit_code=1).stderr
    again = said.partition("`cobalance ")[2].partition("`")[0]
    assert again == (
        f"plan '{planned}' --name 'a small one' --planner conbias "
        "--min-size 1 --max-size 1 --budget 2"
    )
    assert "asks for 2 images" in run(*shlex.split(again)).stdout
    run(*ORDER, planned, "--plan", "a small one")


def test_an_order_before_a_plan_says_to_plan(run, store, dataset, tmp_path):
    (tmp_path / "cars.csv").write_text(ROWS)
    run("ingest", tmp_path / "cars.csv", "--dataset", dataset)
    run("mine", dataset)
    said = run("enqueue", dataset, exit_code=1).stderr
    assert f"has no plan yet. Run `cobalance plan '{dataset}'`." in said


def test_one_image_in_one_query(run, planned, tmp_path):
    plan = json.loads(
        run("plan", planned, "--planner", "conbias", "--min-size", 1, "-f", "json").stdout
    )
    plan["queries"] = [plan["queries"][0] | {"n": 1}]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    done = run(*ORDER, planned, "--plan-file", tmp_path / "plan.json")
    assert f"Job {done.stdout.strip()}: 1 image in 1 query, by the recipe procedural" in done.stderr
    assert "0 of 1" in run("jobs", "show", done.stdout.strip()).stdout
    plan["queries"] = []
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    said = run(*ORDER, planned, "--plan-file", tmp_path / "plan.json", exit_code=1).stderr
    assert "The plan 'conbias' asks for no images. Its gaps (5) stay" in said


@pytest.mark.parametrize(
    ("model", "kept", "is_noted"),
    [
        ("owner/name", "owner/name", False),
        ("{here}", "{here}", False),
        ("{here}/nowhere", "{here}/nowhere", True),
        ("~/nowhere", "{home}/nowhere", True),
        ("./nowhere", "{cwd}/nowhere", True),
    ],
)
def test_a_model_that_is_not_here_is_noted(run, planned, store, tmp_path, model, kept, is_noted):
    places = {"here": tmp_path, "home": os.path.expanduser("~"), "cwd": os.getcwd()}
    done = run(*ORDER, planned, "--backend", "inpaint", "--model", model.format(**places))
    kept = kept.format(**places)
    assert read_job(store, done.stdout.strip()).settings["making"]["model"] == kept
    note = f"There is no folder {kept} on this machine; workers need it."
    assert (note in done.stderr) == is_noted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plan", "nope"], "unknown plan 'nope'. Known: conbias."),
        (["--backend", "nope"], f"unknown backend 'nope'. Known: {', '.join(sorted(BACKENDS))}."),
        (["--filter", "nope"], f"unknown filter 'nope'. Known: {', '.join(sorted(FILTERS))}."),
        (["--recipe", "paste", "--set", "making.steps=0"], "The backend paste: steps is 0"),
        (
            ["--set", "making.steps=9"],
            "The backend procedural has no option 'steps'. Its options: ",
        ),
        (["--set", "making.step=1"], "The backend procedural has no option 'step'"),
        (
            ["--recipe", "nope"],
            f"unknown recipe 'nope'. Known: {', '.join(sorted(RECIPES))}.",
        ),
        (["--set", "nope"], "--set 'nope' is no NAME=VALUE"),
        (
            ["--set", "making=3"],
            "The setting making is 3: making is a group of settings; set one of them, such as "
            "making.steps=20.",
        ),
        (["--set", "masks=boxes"], "The setting masks is 'boxes': masks is a group of settings"),
        (["--set", "filters=clip"], "filters is a group of settings"),
        (["--set", "filters.clip=0.7"], "such as filters.clip.threshold=0.65, or name it with"),
        (["--recipe", "paste", "--preset", "quick"], "The backend paste: preset is 'quick'"),
        (["--recipe", "paste", "--model", ""], "The model is empty"),
        (
            ["--recipe", "paste", "--model", "~nobody.of.that.name/sd"],
            "nobody's home folder is ~nobody.of.that.name",
        ),
        (["--plan", "conbias", "--plan-file", "x"], "give one of them"),
        (["--filter", "none", "--filter", "blank"], "--filter none leaves no filter"),
        (["--format", "parquet"], "Parquet is not text"),
    ],
)
def test_an_order_that_cannot_be_taken(run, planned, options, said):
    assert said in run(*ORDER, planned, *options, exit_code=2).stderr
    assert "There is no job" in run("jobs", "list", "-d", planned).stderr


def test_what_workers_need_and_is_not_here_is_noted(environment, planned):
    note = "This job needs the extra models, which is not installed here; workers need it"
    masks = ["--set", "masks.masks=segmenter", "--set", "segmenter=sam"]
    for options in (["--backend", "inpaint"], ["--filter", "clip"], masks):
        done = run_without(environment, ["models"], *ORDER, planned, *options)
        assert note in " ".join(done.stderr.split()), options
        assert (
            "which is not installed here" not in call(environment, *ORDER, planned, *options).stderr
        )
    done = run_without(environment, ["models"], *ORDER, planned)
    assert "not installed" not in done.stderr


def test_one_filter_s_option_leaves_the_others(run, planned, store):
    job = run(*ORDER, planned, "--set", "filters.blank.threshold=0.1").stdout.strip()
    settings = read_job(store, job).settings
    assert settings["filters"] == {"sanity": {}, "blank": {"threshold": 0.1}, "duplicates": {}}


def test_times_are_in_json_too(run, planned):
    (row,) = json.loads(run(*ORDER, planned, *SMALL, "-f", "json").stdout)
    assert row["created_at"].endswith("Z")
    assert row in json.loads(run("jobs", "list", "-f", "json").stdout)


def test_options_win_over_the_file_of_settings(run, planned, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('backend = "inpaint"\n[making]\npreset = "fast"\n')
    said = run(*ORDER, planned, "--settings", file, "--backend", "paste").stderr
    assert "by the recipe paste" in " ".join(said.split())
    said = run(*ORDER, planned, "--settings", file).stderr
    assert "by the recipe inpaint" in " ".join(said.split())
    for text in ("making = 3", 'filters = ["clip"]'):
        file.write_text(text)
        said = run(
            *ORDER, planned, "--settings", file, "--model", "m", "--filter", "blank", exit_code=2
        )
        assert "is no table of settings" in " ".join(said.stderr.split())


def test_an_option_of_a_job_leaves_the_recipe_as_it_was():
    before = {name: dict(given) for name, given in RECIPES["procedural"].filters.items()}
    read_settings(None, {}, {}, assignments=["filters.blank.threshold=0.1"])
    assert dict(RECIPES["procedural"].filters) == before


def test_images_are_looked_for_when_loading_and_ordering(environment, dataset, tmp_path):
    folder = tmp_path / "cars" / "images"
    folder.mkdir(parents=True)
    lines = [line.split(",") for line in ROWS.splitlines()[1:]]
    rows = "".join(f"{at}.png,{name},{concepts}\n" for at, name, concepts in lines)
    (tmp_path / "cars.csv").write_text(f"file_name,class,concepts\n{rows}")
    environment |= {"COBALANCE_IMAGES": str(tmp_path / "s"), "COBALANCE_IMPORTS": str(tmp_path)}
    said = call(environment, "ingest", tmp_path / "cars.csv", "-d", dataset).stderr
    assert "Images: 14 of 14 files not found, such as " in said
    assert f"; looked in {tmp_path}, {tmp_path}/s" in said
    assert "Set COBALANCE_IMAGES to the folder, ZIP file or URL that has them." in said
    for command in (("mine", "--max-size", 2), ("plan", "--planner", "conbias")):
        call(environment, command[0], dataset, *command[1:])
    refused = call(environment, "enqueue", dataset)
    assert refused.returncode == 1
    assert "no image of the class 'country' or of the class 'urban' has a file" in refused.stderr
    assert "0 of 14 files looked for are there" in refused.stderr
    assert refused.stderr.endswith("order with --without-images.\n")
    for at in range(14):
        (folder / f"{at}.png").touch()
    (tmp_path / "cars.csv").rename(tmp_path / "cars" / "cars.csv")
    said = call(environment, "ingest", tmp_path / "cars" / "cars.csv", "-d", dataset).stderr
    assert f"Images: 14 of 14 files found; {folder} is kept for later commands.\n" in said
    assert call(environment, "enqueue", dataset).returncode == 0
