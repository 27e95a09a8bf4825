"""Jobs from the command line: made by a worker, merged, exported; and without extras."""

import json
import os

import pytest

from cobalance.generation.jobs.pilot import PILOT_ABOVE
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job
from tests.app.cli.calling import EXTRAS, call, run_each_without, run_without, spawn
from tests.app.cli.conftest import ORDER, SMALL, table


def test_from_a_plan_to_a_balanced_dataset(run, planned, tmp_path, environment):
    plan = json.loads(
        run(
            "plan", planned, "--planner", "conbias", "--max-size", 2, "--min-size", 1, "-f", "json"
        ).stdout
    )
    wanted = sum(query["n"] for query in plan["queries"])
    assert wanted > 0
    job = run(*ORDER, planned, *SMALL).stdout.strip()
    assert table(run("jobs", "list", "-d", planned, "-f", "csv"))["state"].tolist() == ["queued"]
    done = run("work", "--until-idle").stderr
    assert f"Next: cobalance rebalance {job}" in done
    assert f"Job {job} is done: {wanted:,} of {wanted:,} images accepted" in done
    (row,) = table(run("jobs", "list", "-d", planned, "-f", "csv")).itertuples()
    assert (row.job, row.state, row.wanted, row.accepted) == (job, "done", wanted, wanted)
    queries = table(run("jobs", "show", job, "-f", "csv"))
    assert queries["accepted"].tolist() == [query["n"] for query in plan["queries"]]

    said = run("rebalance", job).stderr
    assert f"{planned}-rebalanced" in said
    compared = run("compare", "datasets", planned, f"{planned}-rebalanced", "-f", "csv")
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
               "--assign-split", "made", "--set", "shard_images=1").stdout  # fmt: skip
    assert f"{wanted} generated images" in said
    shards = [path.name for path in (tmp_path / "tar" / "shards").iterdir()]
    assert len(shards) == wanted
    assert all(name.startswith("made-") for name in shards)
    for option, wrong in (
        (
            "shards=1",
            "The export format webdataset has no option 'shards'. Did you mean 'shard_bytes'?",
        ),
        ("shard_images=none", "The export format webdataset: shard_images is 'none'"),
        ("shard_images", "--set 'shard_images' is no NAME=VALUE, such as making.steps=30."),
    ):
        folder = tmp_path / "none"
        refused = run("export", job, folder, "--as", "webdataset", "--set", option, exit_code=2)
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
    job = run(*ORDER, planned, *SMALL, "--filter", "none").stdout.strip()
    twice = run(*ORDER, planned, *SMALL)
    assert f"Job {job} makes this plan, too. To end it: cobalance jobs cancel {job}" in twice.stderr
    run("jobs", "cancel", twice.stdout.strip())
    assert f"Job {job} is cancelled." in run("jobs", "cancel", job).stderr
    assert f"Job {job} is cancelled." in run("jobs", "cancel", job).stderr
    assert "There was nothing to do." in run("work", "--until-idle").stderr
    assert table(run("jobs", "list", "-d", planned, "-f", "csv"))["accepted"].tolist() == [0, 0]
    one = run("jobs", "list", "-d", planned, "--limit", 1)
    assert len(one.stdout.splitlines()) == 3
    assert "Only the first row is shown; see --limit." in one.stderr
    assert f"Job {job} is queued" in run("jobs", "retry", job).stderr
    run("work", "--until-idle")
    states = table(run("jobs", "list", "-d", planned, "-f", "csv"))["state"].tolist()
    assert states == ["cancelled", "done"]
    assert "there is nothing to cancel" in run("jobs", "cancel", job).stderr
    for option in ([], ["--short"]):
        said = run("jobs", "retry", job, *option).stderr
        assert f"Job {job} is done: nothing of it failed, and no image is missing." in said


def test_queries_that_gave_up_are_dropped_or_ordered_again(run, planned, store):
    """The filter rejects every image, so that the pilot of each query tells it."""
    rejects_all = ("--set", "filters.blank.threshold=0.5", "--set", "candidates_per_image=2")
    job = run(
        *ORDER, planned, *SMALL, *rejects_all, "--pilot", "--set", "hour_price=2"
    ).stdout.strip()
    run("work", "--until-idle")
    shown = run("jobs", "show", job)
    short = read_job(store, job).short
    assert short
    assert f"{short} queries gave up with fewer images than wanted." in shown.stderr
    assert f"cobalance jobs drop {job}" in " ".join(shown.stderr.split())
    frame = table(run("jobs", "show", job, "-f", "csv"))
    assert set(frame["acceptance"]) == {0}
    assert (frame["acceptance_high"] < 1).all()
    assert frame["message"].str.startswith("It will not be had: the filter blank rejects").all()

    again = run("jobs", "reorder", job, "--set", "filters.blank.threshold=0.001")
    new_job = again.stdout.strip()
    assert f"Job {new_job} makes what job {job} gave up." in again.stderr
    settings = read_job(store, new_job).settings
    assert (settings["hour_price"], settings["filters"]["blank"]) == (2, {"threshold": 0.001})
    run("work", "--until-idle")
    done = read_job(store, new_job)
    assert (done.state, done.covered) == ("done", done.wanted)
    assert "images a second of a worker's time" in run("jobs", "show", new_job).stdout
    assert "there is nothing to drop" in run("jobs", "drop", job).stderr
    assert "nothing to order again" in run("jobs", "reorder", job, exit_code=1).stderr


def test_the_help_says_from_where_on_there_is_a_pilot(run):
    assert f"more than {PILOT_ABOVE} images" in " ".join(
        run("enqueue", "--help").stdout.replace("│", "").split()
    )


def test_a_drop_says_what_becomes_of_jobs(run, planned, tmp_path, environment):
    plain = f"Drop '{planned}' with all its images, cliques and plans?"
    assert plain in asked(environment, planned)
    jobs = [run(*ORDER, planned, *SMALL, "--filter", "none").stdout.strip() for _ in range(3)]
    run("jobs", "cancel", jobs[0])
    run("jobs", "cancel", jobs[1])
    run("work", "--until-idle")
    run("jobs", "retry", jobs[0])
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
    """The question before a drop, which is then not done."""
    unanswered = spawn(environment, "datasets", "drop", dataset, answer="")
    assert "Nobody is there to answer. To be asked nothing, give --yes." in unanswered.stderr
    done = spawn(environment, "datasets", "drop", dataset, answer="n\n")
    assert (unanswered.returncode, done.returncode) == (2, 1)
    return done.stdout


def test_the_beginning_of_an_id_is_enough(run, planned, store):
    job = run(*ORDER, planned, *SMALL).stdout.strip()
    create_job(store, planned, "mine", [("urban", ("cow",), 1)], job=f"{job[:6]}0")
    create_job(store, planned, "mine", [("urban", ("cow",), 1)], job=f"{job[:6]}00")
    several = run("jobs", "cancel", job[:6], exit_code=2).stderr
    assert f"Several jobs begin with '{job[:6]}': " in several
    assert f"Job {job} is cancelled." in run("jobs", "cancel", job[:8]).stderr
    assert f"Job {job} is queued" in run("jobs", "retry", job[:8]).stderr
    assert job in run("jobs", "show", job[:8]).stdout
    # One whose id is whole, though another one begins with it.
    assert f"Job {job[:6]}0 is cancelled." in run("jobs", "cancel", f"{job[:6]}0").stderr
    for command in ("jobs cancel", "jobs retry", "jobs show", "rebalance", "export"):
        folder = ["folder"] if command == "export" else []
        said = run(*command.split(), f"{job}x", *folder, exit_code=1).stderr
        assert f"There is no job '{job}x'" in said
        assert "To list those there are: cobalance jobs list" in said
        assert "There is no job" in run(*command.split(), job[:3], *folder, exit_code=1).stderr


@pytest.mark.parametrize("command", ["jobs cancel", "jobs retry", "jobs show", "rebalance"])
def test_a_job_that_is_not_there(run, command):
    assert "There is no job 'nope'" in run(*command.split(), "nope", exit_code=1).stderr


def test_a_screen_of_80_columns_breaks_no_id(run, planned, environment):
    job = run(*ORDER, planned, *SMALL).stdout.strip()
    assert job in call(environment, "jobs", "list", "-d", planned, width=80).stdout


def test_a_queue_that_is_none(environment):
    done = call(environment | {"COBALANCE_QUEUE": "mysql://me:secret@host/db"}, "work")
    assert done.returncode == 2
    assert "mysql://me:***@host/db is neither sqlite" in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize(
    ("without", "needed"),
    [
        (
            tuple(EXTRAS),
            {
                "worker": (
                    "work --until-idle",
                    "rebalance JOB",
                    "export JOB folder",
                    "demo --full",
                ),
                "app": ("app --no-browser",),
            },
        ),
        (("models",), {"models": ("work --gpus all",)}),
    ],
)
def test_a_command_says_which_extra_it_needs(environment, planned, store, without, needed):
    job = create_job(store, planned, "mine", [("urban", ("cow",), 1)])
    extras = [extra for extra, commands in needed.items() for _ in commands]
    typed = [command.replace("JOB", job) for commands in needed.values() for command in commands]
    commands = [command.split() for command in typed]
    ended = run_each_without(environment, without, commands)
    for extra, done in zip(extras, ended, strict=True):
        assert done.returncode == 1, done
        assert "pip install" in done.stderr
        assert extra in done.stderr, done
        assert "Traceback" not in done.stderr


def test_the_core_runs_without_any_extra(environment, planned):
    commands = (
        ["--help"],
        ["datasets", "list"],
        ["imbalances", planned, "--limit", "1"],
        [*ORDER, planned],
        ["jobs", "list"],
    )
    for done in run_each_without(environment, EXTRAS, commands):
        assert done.returncode == 0, done


def test_a_job_that_needs_a_model_is_left_to_workers_that_have_its_extra(run, environment, planned):
    job = run(*ORDER, planned, "--backend", "inpaint").stdout.strip()
    done = run_without(environment, ["models"], "work", "--until-idle")
    assert done.returncode == 1
    assert f"Job {job} needs packages that are not installed" in done.stderr
    assert "[models]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert table(run("jobs", "list", "-d", planned, "-f", "csv"))["state"].tolist() == ["queued"]
    assert os.path.exists(environment["COBALANCE_QUEUE"].removeprefix("sqlite:///"))
