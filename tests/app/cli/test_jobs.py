"""Jobs from the command line: ordered, made by a worker, merged, exported; and without extras."""

import ast
import io
import json
import os
import shlex
import subprocess
import sys
from copy import deepcopy

import pandas as pd
import pytest

from app.cli.job_settings import read_settings
from generation.recipes import RECIPES
from graph.dataset.drop_rename import drop_dataset
from graph.dataset.state import find_dataset
from graph.jobs.lifecycle import create_job
from graph.jobs.status import read_job
from tests.app.cli.commands import call, spawn

ROWS = "id,class,concepts\n" + "".join(
    f"{i},{name},{concepts}\n"
    for i, (name, concepts) in enumerate(
        [("country", "cow|road")] * 6 + [("country", "sign")] + [("urban", "road|sign")] * 5
        + [("urban", "cow")] * 2
    )
)  # fmt: skip
SMALL = ("--set", "making.width_px=32", "--set", "making.height_px=32")


@pytest.fixture
def planned(run, store, dataset, tmp_path):
    (tmp_path / "cars.csv").write_text(ROWS)
    run("ingest", tmp_path / "cars.csv", "--dataset", dataset)
    run("mine", dataset, "--max-size", 2)
    run("plan", dataset, "--max-size", 2, "--min-size", 1)
    yield dataset
    if find_dataset(store, f"{dataset}-rebalanced") is not None:
        drop_dataset(store, f"{dataset}-rebalanced")


def table(done):
    return pd.read_csv(io.StringIO(done.stdout))


def test_from_a_plan_to_a_balanced_dataset(run, planned, tmp_path, environment):
    plan = json.loads(run("plan", planned, "--max-size", 2, "--min-size", 1, "-f", "json").stdout)
    wanted = sum(query["n"] for query in plan["queries"])
    assert wanted > 0
    job = run("enqueue", planned, *SMALL).stdout.strip()
    assert table(run("jobs", "-d", planned, "-f", "csv"))["state"].tolist() == ["queued"]
    done = run("work", "--until-idle").stderr
    assert f"Job {job} is done: {wanted:,} of {wanted:,} images accepted" in done
    (row,) = table(run("jobs", "-d", planned, "-f", "csv")).itertuples()
    assert (row.job, row.state, row.wanted, row.accepted) == (job, "done", wanted, wanted)
    queries = table(run("jobs", job, "-f", "csv"))
    assert queries["accepted"].tolist() == [query["n"] for query in plan["queries"]]

    said = run("rebalance", job).stderr
    assert f"{planned}-rebalanced" in said
    compared = run("imbalances", planned, "--compare", f"{planned}-rebalanced", "-f", "csv")
    assert set(table(compared)["gap_after"]) == {0}
    assert "0 introduced" in compared.stderr

    # The real images have no files here.
    refused = run("export", job, tmp_path / "all", exit_code=1).stderr
    assert "no address" in refused or "names no file" in refused, refused
    run("export", job, tmp_path / "made", "--generated-only", "--as", "imagefolder")
    assert len(list((tmp_path / "made").rglob("*.png"))) == wanted
    weights = run("export", job, tmp_path / "weights", "--as", "weights").stdout
    assert "14 real images" in weights
    assert "left out" not in weights  # of which there are none
    # An option of the format's own, and one that is not.
    said = run("export", job, tmp_path / "tar", "--as", "webdataset", "--generated-only",
               "--split", "made", "--option", "shard_images=1").stdout  # fmt: skip
    assert f"{wanted} generated images" in said
    shards = [path.name for path in (tmp_path / "tar" / "shards").iterdir()]
    assert len(shards) == wanted
    assert all(name.startswith("made-") for name in shards)
    for option, wrong in (
        ("shards=1", "The export format webdataset has no option 'shards'. Its options: shard_b"),
        ("shard_images=none", "The export format webdataset: shard_images is 'none'"),
        ("shard_images", "--option 'shard_images' is no NAME=VALUE, such as shard_images=1000."),
    ):
        folder = tmp_path / "none"
        refused = run("export", job, folder, "--as", "webdataset", "--option", option, exit_code=2)
        assert wrong in refused.stderr
        assert not folder.exists()
    # Where nobody can write, not even root.
    nowhere = "/proc/x" if os.path.exists("/proc") else "/dev/x/y"
    refused = run("export", job, nowhere, "--generated-only", exit_code=1).stderr
    assert f"{nowhere}: the export cannot be written (" in refused
    assert "another export" not in refused
    (tmp_path / "file").touch()
    refused = run("export", job, tmp_path / "file" / "x", exit_code=1).stderr
    assert f"{tmp_path / 'file'} is a file. Name a folder." in refused
    environment["COBALANCE_OUTPUT"] = str(tmp_path / "elsewhere")
    refused = run("export", job, tmp_path / "other", "--generated-only", exit_code=1).stderr
    assert f"elsewhere has 0 of the {wanted} accepted images of job {job}" in refused


def test_cancelled_before_it_began_and_taken_up_again(run, planned):
    job = run("enqueue", planned, *SMALL, "--filter", "none").stdout.strip()
    twice = run("enqueue", planned, *SMALL)
    assert f"Job {job} makes this plan, too. To end it: cobalance cancel {job}" in twice.stderr
    run("cancel", twice.stdout.strip())
    assert f"Job {job} is cancelled." in run("cancel", job).stderr
    assert f"Job {job} is cancelled." in run("cancel", job).stderr
    assert "There was nothing to do." in run("work", "--until-idle").stderr
    assert table(run("jobs", "-d", planned, "-f", "csv"))["accepted"].tolist() == [0, 0]
    one = run("jobs", "-d", planned, "--limit", 1)
    assert len(one.stdout.splitlines()) == 3
    assert "Only the first row is shown; see --limit." in one.stderr
    assert f"Job {job} is queued" in run("retry", job).stderr
    run("work", "--until-idle")
    states = table(run("jobs", "-d", planned, "-f", "csv"))["state"].tolist()
    assert states == ["cancelled", "done"]
    assert "there is nothing to cancel" in run("cancel", job).stderr
    for option in ([], ["--short"]):
        said = run("retry", job, *option).stderr
        assert f"Job {job} is done: nothing of it failed, and no image is missing." in said


def test_a_plan_is_ordered_again_with_its_options(run, planned, tmp_path):
    options = ["--name", "a small one", "--min-size", 1, "--max-size", 1, "--budget", 2]
    run("plan", planned, *options)
    (tmp_path / "cars.csv").write_text(ROWS + "99,urban,cow\n")
    run("ingest", tmp_path / "cars.csv", "--dataset", planned)
    run("mine", planned, "--max-size", 2)
    said = run("enqueue", planned, "--plan", "a small one", exit_code=1).stderr
    again = said.partition("`cobalance ")[2].partition("`")[0]
    assert again == (f"plan '{planned}' --name 'a small one' --min-size 1 --max-size 1 --budget 2")
    assert "asks for 2 images" in run(*shlex.split(again)).stdout
    run("enqueue", planned, "--plan", "a small one")


def test_an_order_before_a_plan_says_to_plan(run, store, dataset, tmp_path):
    (tmp_path / "cars.csv").write_text(ROWS)
    run("ingest", tmp_path / "cars.csv", "--dataset", dataset)
    run("mine", dataset)
    said = run("enqueue", dataset, exit_code=2).stderr
    assert f"has no plan yet. Run `cobalance plan '{dataset}'`." in said


def test_a_drop_says_what_becomes_of_jobs(run, planned, tmp_path, environment):
    plain = f"Drop '{planned}' with all its images, cliques and plans?"
    assert plain in asked(environment, planned)
    jobs = [run("enqueue", planned, *SMALL, "--filter", "none").stdout.strip() for _ in range(3)]
    run("cancel", jobs[0])
    run("cancel", jobs[1])
    run("work", "--until-idle")
    run("retry", jobs[0])
    generated = tmp_path / "generated"
    assert (
        f"Drop '{planned}' with all its images, cliques and plans, and its 3 jobs, 1 of them "
        f"queued or running (their files stay in {generated})?"
    ) in asked(environment, planned)
    said = run("datasets", "drop", planned, "--yes").stderr
    kept = f"Dropped '{planned}'.\nThe files of its jobs stay in:\n  {generated / jobs[2]}\n"
    assert said.endswith(kept)
    assert (generated / jobs[2]).is_dir()


def asked(environment, dataset):
    """What is asked before a drop, which is not done."""
    done = subprocess.run(
        [sys.executable, "-m", "app", "datasets", "drop", dataset],
        env=environment,
        input="n\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stdout


def test_the_beginning_of_an_id_is_enough(run, planned, store):
    job = run("enqueue", planned, *SMALL).stdout.strip()
    create_job(store, planned, "mine", [("urban", ("cow",), 1)], job=f"{job[:6]}0")
    create_job(store, planned, "mine", [("urban", ("cow",), 1)], job=f"{job[:6]}00")
    several = run("cancel", job[:6], exit_code=2).stderr
    assert f"Several jobs begin with '{job[:6]}': " in several
    assert f"Job {job} is cancelled." in run("cancel", job[:8]).stderr
    assert f"Job {job} is queued" in run("retry", job[:8]).stderr
    assert job in run("jobs", job[:8]).stdout
    # One whose id is whole, though another one begins with it.
    assert f"Job {job[:6]}0 is cancelled." in run("cancel", f"{job[:6]}0").stderr
    for command in (["cancel"], ["retry"], ["jobs"], ["rebalance"], ["export"]):
        folder = ["folder"] if command == ["export"] else []
        said = run(*command, f"{job}x", *folder, exit_code=2).stderr
        assert f"There is no job '{job}x'" in said
        assert "To list those there are: cobalance jobs" in said
        assert "There is no job" in run(*command, job[:3], *folder, exit_code=2).stderr


def test_what_workers_need_and_is_not_here_is_noted(environment, planned):
    note = "This job needs cobalance[models], which is not installed here; workers need it"
    masks = ["--set", "masks.masks=segmenter", "--set", "segmenter=sam"]
    for options in (["--backend", "inpaint"], ["--filter", "clip"], masks):
        done = run_without(environment, ["models"], "enqueue", planned, *options)
        assert note in " ".join(done.stderr.split()), options
        assert (
            "which is not installed here"
            not in call(environment, "enqueue", planned, *options).stderr
        )
    done = run_without(environment, ["models"], "enqueue", planned)
    assert "not installed" not in done.stderr


def test_the_web_app_is_suggested_with_what_it_needs(environment):
    shown = 'import app.cli.commands.demo as demo; print(demo.web_app_command("to see it"))'
    for extras, expected in (
        ([], [("cobalance app", "to see it")]),
        (["app"], [('pip install "cobalance[app]"\ncobalance app', "to see it: install it first")]),
    ):
        missing = [name for extra in extras for name in EXTRAS[extra]]
        hidden = f"import sys; [sys.modules.__setitem__(name, None) for name in {missing!r}]"
        done = subprocess.run(
            [sys.executable, "-c", f"{hidden}; {shown}"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ast.literal_eval(done.stdout) == expected


def test_one_image_in_one_query(run, planned, tmp_path):
    plan = json.loads(run("plan", planned, "--min-size", 1, "-f", "json").stdout)
    plan["queries"] = [plan["queries"][0] | {"n": 1}]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    done = run("enqueue", planned, "--plan-file", tmp_path / "plan.json")
    assert f"Job {done.stdout.strip()}: 1 image in 1 query, by the recipe procedural" in done.stderr
    assert "0 of 1" in run("jobs", done.stdout.strip()).stdout
    plan["queries"] = []
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    said = run("enqueue", planned, "--plan-file", tmp_path / "plan.json", exit_code=2).stderr
    assert f"cobalance plan '{planned}' --min-size 1" in said


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
    done = run("enqueue", planned, "--backend", "inpaint", "--model", model.format(**places))
    kept = kept.format(**places)
    assert read_job(store, done.stdout.strip()).settings["making"]["model"] == kept
    note = f"There is no folder {kept} on this machine; workers need it."
    assert (note in done.stderr) == is_noted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plan", "nope"], "unknown plan 'nope'. Known: conbias."),
        (["--backend", "nope"], "unknown backend 'nope'. Known: inpaint, instruct, paste"),
        (["--filter", "nope"], "unknown filter 'nope'. Known: blank, clip, duplicates"),
        (["--recipe", "paste", "--set", "making.steps=0"], "The backend paste: steps is 0"),
        (
            ["--set", "making.steps=9"],
            "The backend procedural has no option 'steps'. Its options: ",
        ),
        (["--set", "making.step=1"], "The backend procedural has no option 'step'"),
        (
            ["--recipe", "nope"],
            "unknown recipe 'nope'. Known: inpaint, instruct, paste, procedural",
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
    assert said in run("enqueue", planned, *options, exit_code=2).stderr
    assert "There is no job" in run("jobs", "-d", planned).stderr


@pytest.mark.parametrize("command", ["cancel", "retry", "jobs", "rebalance"])
def test_a_job_that_is_not_there(run, command):
    assert "There is no job 'nope'" in run(command, "nope", exit_code=2).stderr


def test_one_filter_s_option_leaves_the_others(run, planned, store):
    job = run("enqueue", planned, "--set", "filters.blank.threshold=0.1").stdout.strip()
    settings = read_job(store, job).settings
    assert settings["filters"] == {"sanity": {}, "blank": {"threshold": 0.1}, "duplicates": {}}


def test_a_screen_of_80_columns_breaks_no_id(run, planned, environment):
    job = run("enqueue", planned, *SMALL).stdout.strip()
    assert job in spawn(environment | {"COLUMNS": "80"}, "jobs", "-d", planned).stdout


def test_a_queue_that_is_none(environment):
    done = call(environment | {"COBALANCE_QUEUE": "mysql://me:secret@host/db"}, "work")
    assert done.returncode == 2
    assert "mysql://me:***@host/db is neither sqlite" in done.stderr
    assert "secret" not in done.stderr


WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from app.__main__ import main
sys.argv = ["cobalance", *{arguments!r}]
main()
"""
EXTRAS = {
    "worker": ("dbos", "fsspec", "imagehash", "PIL"),
    "models": ("torch", "diffusers", "transformers"),
    "demo": ("sklearn", "skimage"),
    "app": ("streamlit",),
}


def run_without(environment, extras, *arguments):
    missing = [name for extra in extras for name in EXTRAS[extra]]
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing, arguments=list(arguments))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["work", "--until-idle"], "worker"),
        (["rebalance", "job"], "worker"),
        (["export", "job", "folder"], "worker"),
        (["demo", "--full"], "worker"),
        (["app", "--no-browser"], "app"),
        (["work", "--gpus", "all"], "models"),
    ],
)
def test_a_command_says_which_extra_it_needs(environment, arguments, extra):
    without = EXTRAS if extra != "models" else ["models"]
    done = run_without(environment, without, *arguments)
    assert done.returncode == 1, done.stderr
    assert "cobalance[" in done.stderr
    assert extra in done.stderr
    assert "Traceback" not in done.stderr


def test_the_core_runs_without_any_extra(environment, planned):
    for arguments in (
        ["--help"],
        ["datasets", "list"],
        ["imbalances", planned, "--limit", "1"],
        ["enqueue", planned],
        ["jobs"],
    ):
        done = run_without(environment, EXTRAS, *arguments)
        assert done.returncode == 0, (arguments, done.stderr)


def test_a_job_that_needs_a_model_is_left_to_workers_that_have_its_extra(run, environment, planned):
    job = run("enqueue", planned, "--backend", "inpaint").stdout.strip()
    done = run_without(environment, ["models"], "work", "--until-idle")
    assert done.returncode == 1
    assert f"Job {job} needs packages that are not installed" in done.stderr
    assert 'pip install "cobalance[models]"' in done.stderr
    assert "Traceback" not in done.stderr
    assert table(run("jobs", "-d", planned, "-f", "csv"))["state"].tolist() == ["queued"]
    assert os.path.exists(environment["COBALANCE_QUEUE"].removeprefix("sqlite:///"))


def test_times_are_in_json_too(run, planned):
    (row,) = json.loads(run("enqueue", planned, *SMALL, "-f", "json").stdout)
    assert row["created_at"].endswith("Z")
    assert row in json.loads(run("jobs", "-f", "json").stdout)


def test_options_win_over_the_file_of_settings(run, planned, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('backend = "inpaint"\n[making]\npreset = "fast"\n')
    said = run("enqueue", planned, "--settings", file, "--backend", "paste").stderr
    assert "by the recipe paste" in " ".join(said.split())
    said = run("enqueue", planned, "--settings", file).stderr
    assert "by the recipe inpaint" in " ".join(said.split())
    for text in ("making = 3", 'filters = ["clip"]'):
        file.write_text(text)
        said = run(
            "enqueue", planned, "--settings", file, "--model", "m", "--filter", "blank", exit_code=2
        )
        assert "is no table of settings" in " ".join(said.stderr.split())


def test_an_option_of_a_job_leaves_the_recipe_as_it_was():
    before = deepcopy(dict(RECIPES["procedural"].filters))
    read_settings(None, {}, {}, assignments=["filters.blank.threshold=0.1"])
    assert dict(RECIPES["procedural"].filters) == before
