"""The command line, run as a person or a script runs it: output, exit codes, messages."""

import contextlib
import csv
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import uuid
from importlib.metadata import version

import pandas as pd
import pytest

from cobalance.app.cli.cypher import parse_parameters
from cobalance.app.cli.main import HOMES
from cobalance.base.errors import OptionError
from cobalance.generation.planning.plan_file import plan_from_json
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.names import class_sizes
from cobalance.graph.dataset.state import list_datasets
from cobalance.graph.queries.catalogue import CATALOGUE
from tests.app.cli.calling import call, run_code
from tests.browser.server import environment_of
from tests.support.unequal import images, rows_of

ROWS = """id,class,concepts
1,country,cow|road
2,country,cow
3,urban,road
4,urban,cow|road
5,urban,sign|road
"""


@pytest.fixture(scope="module")
def environment(settings):
    return environment_of(settings)


@pytest.fixture(scope="module")
def run(environment):
    def command(*arguments, exit_code=0, width=10_000, **changes):
        done = call(environment | changes, *arguments, width=width)
        assert done.returncode == exit_code, done.stderr
        return done

    return command


@pytest.fixture(scope="module")
def cars(run, store, tmp_path_factory):
    """A mined dataset for the whole module, and one beside it that is not."""
    name = f"test {uuid.uuid4()}"
    file = tmp_path_factory.mktemp("cars") / "instances_train_and_val_2017.csv"
    file.write_text("id,class,concepts\n1,country,cow|road\n2,country,cow\n3,urban,cow|road\n")
    for dataset in (name, f"{name} 2"):
        run("ingest", file, "--dataset", dataset)
    run("mine", name)
    yield name
    for dataset in (name, f"{name} 2"):
        drop_dataset(store, dataset)


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "cars.csv"
    file.write_text(ROWS)
    return file


@pytest.fixture
def mined(run, store, dataset, table):  # the store outlives the data set that it cleans up
    run("ingest", table, "--dataset", dataset)
    run("mine", dataset)
    return dataset


def test_check_against_a_published_file(run, cars, tmp_path):
    file = tmp_path / "cliques.json"
    file.write_text('{"2": [[["road", "cow"], {"country": 1, "urban": 7}]]}')
    done = run("compare", "published", cars, file, "--format", "json")
    row = {"concepts": ["cow", "road"], "result": "equal", "class": "country"}
    assert json.loads(done.stdout) == [
        row | {"class": "urban", "theirs": 7, "ours": 1, "result": "differs"},
        row | {"theirs": 1, "ours": 1},
    ]
    assert done.stderr == "2 rows: 1 differ, 0 only published, 0 only here, 1 equal.\n"
    file.write_text('{"2": [[["Road", "cow"], {"Country": 1, "bus": 1}]]}')
    done = run("compare", "published", cars, file)
    assert (
        "1 equal. In other letter case: Country as country, Road as road. Names that" in done.stderr
    )
    assert done.stderr.endswith("the dataset lacks: bus.\n")
    file.write_text('{"2": [[["cow", "road"], {"bus": 1}]]}')
    assert "0 equal" in run("compare", "published", cars, file, exit_code=1).stderr
    file.write_text('[["cow", "road", "a", "b", "c"]]')
    assert "--max-size 5" in run("compare", "published", cars, file, exit_code=1).stderr
    file.write_text("[1")
    assert "is not JSON" in run("compare", "published", cars, file, exit_code=1).stderr


def test_from_a_file_to_a_plan(run, mined, tmp_path):
    rows = json.loads(run("imbalances", mined, "--format", "json").stdout)
    by_concepts = {tuple(row["concepts"]): row for row in rows}
    assert by_concepts["cow",]["count_country"] == 2
    assert by_concepts["cow",]["count_urban"] == 1
    assert by_concepts["road",]["under_represented"] == "country"
    assert ("sign",) not in by_concepts  # not common to both classes
    evidence = [
        (row["q_value"] <= 0.05, abs(row["rate_country"] - row["rate_urban"])) for row in rows
    ]
    assert evidence == sorted(evidence, reverse=True)
    by_gap = json.loads(run("imbalances", mined, "--by", "gap", "--format", "json").stdout)
    assert by_gap[0]["gap"] == max(row["gap"] for row in rows)
    plan = plan_from_json(
        run("plan", mined, "--planner", "conbias", "--min-size", 1, "--format", "json").stdout
    )
    assert {(q.class_name, q.concepts, q.n) for q in plan.queries} == {
        ("urban", ("cow",), 1),
        ("country", ("road",), 2),
    }
    again = plan_from_json(
        run("plan", mined, "--planner", "conbias", "--min-size", 1, "-f", "json").stdout
    )
    assert again == plan
    listed = run("plan", mined, "--planner", "conbias", "--min-size", 1, "--format", "csv").stdout
    assert sorted(listed.splitlines()) == [
        "class,concepts,n",
        'country,"[""road""]",2',
        'urban,"[""cow""]",1',
    ]
    assert (
        "asks for 3 images (2 country, 1 urban) in 2 queries"
        in run("plan", mined, "--planner", "conbias", "--min-size", 1).stdout
    )


def test_every_format_holds_the_same_table(run, mined, tmp_path):
    rows = json.loads(run("imbalances", mined, "--format", "json").stdout)
    file = tmp_path / "table.parquet"
    run("imbalances", mined, "--format", "parquet", "--output", file)
    parquet = pd.read_parquet(file)
    assert [list(c) for c in parquet["concepts"]] == [row["concepts"] for row in rows]
    assert parquet["gap"].tolist() == [row["gap"] for row in rows]
    csv = run("imbalances", mined, "--format", "csv", "--output", tmp_path / "t.csv")
    assert csv.stdout == ""
    written = pd.read_csv(tmp_path / "t.csv")
    assert [json.loads(c) for c in written["concepts"]] == [row["concepts"] for row in rows]
    assert list(written.columns) == list(rows[0])
    shown = run("imbalances", mined, width=170)
    assert "Sorted by evidence" in shown.stderr
    table = shown.stdout
    assert "cow + road" in table
    assert "too few" in table
    run("imbalances", mined, "--format", "parquet", exit_code=2)
    piped = run("imbalances", mined).stdout  # a line for a row, however long
    assert len(piped.splitlines()) == 2 + len(rows)


def test_summary_of_what_stands_on_its_own(run, mined):
    rows = json.loads(run("summary", mined, "--max-q", 1, "-f", "json").stdout)
    assert {tuple(row["concepts"]) for row in rows} <= {("cow",), ("road",), ("cow", "road")}
    assert all(row["closed"] and row["own_effect"] > 0 for row in rows)
    assert rows
    table = run("summary", mined, "--max-q", 1, width=120).stdout
    assert "own effect" in table
    assert "None of" in run("summary", mined, "--max-q", 0).stderr
    run("summary", mined, "--by", "lift", exit_code=2)
    own = json.loads(run("imbalances", mined, "--own", "-f", "json").stdout)
    plain = json.loads(run("imbalances", mined, "-f", "json").stdout)
    assert [{name: row[name] for name in plain[0]} for row in own] == plain
    by_name = {tuple(row["concepts"]): row for row in own}
    assert all(by_name[tuple(row["concepts"])]["own_effect"] == row["own_effect"] for row in rows)
    closed = json.loads(run("imbalances", mined, "--closed", "--limit", 1, "-f", "json").stdout)
    assert closed == [row for row in plain if by_name[tuple(row["concepts"])]["closed"]][:1]
    assert "by its parts" in run("imbalances", mined, "--own", width=200).stdout


def test_cooccurrences_without_classes(run, dataset, tmp_path):
    rows = ["sofa|lamp"] * 30 + ["sofa"] * 5 + ["lamp"] * 5 + ["lawn"] * 60
    file = tmp_path / "pets.csv"
    file.write_text("id,tags\n" + "\n".join(f"{at},{row}" for at, row in enumerate(rows)))
    assert "no image has one" in run("ingest", file, "--dataset", dataset).stderr
    assert "cobalance cooccurrences" in run("mine", dataset).stderr
    found = json.loads(run("cooccurrences", dataset, "-f", "json").stdout)
    shown = {tuple(row["concepts"]): (row["images"], row["expected"]) for row in found}
    assert shown == {
        ("lamp", "sofa"): (30, 35 * 35 / 100),
        ("lamp", "lawn"): (0, 35 * 60 / 100),
        ("lawn", "sofa"): (0, 35 * 60 / 100),
    }
    assert all(row["q_value"] < 1e-9 for row in found)
    asked = json.loads(run("cypher", "observed-over-expected", "-d", dataset, "-f", "json").stdout)
    assert [(row["images"], row["expected"]) for row in asked] == [(30, 12.25)]
    table = run("cooccurrences", dataset, "--concept", "sofa", "--limit", 1, width=120).stdout
    assert "lawn + sofa" in table
    assert "No combination passes" in run("cooccurrences", dataset, "--max-q", 0).stderr


def test_concepts_are_compared_in_place_of_classes(run, dataset, tmp_path):
    rows = ["sofa|lamp|cat"] * 30 + ["sofa|cat"] * 5 + ["lamp|dog"] * 5 + ["lawn|dog"] * 60
    file = tmp_path / "pets.csv"
    file.write_text("id,tags\n" + "\n".join(f"{at},{row}" for at, row in enumerate(rows)))
    run("ingest", file, "--dataset", dataset)
    said = run("mine", dataset, "--classes", "cat,lamp").stderr
    assert "with 'cat' and without it 6 combinations" in said  # all but dog + lamp
    assert "with 'lamp' and without it" in said
    table = run("imbalances", dataset, width=200)
    assert "Compared: the 35 images with 'cat' and the 65 without." in table.stderr
    found = json.loads(run("imbalances", dataset, "-f", "json").stdout)
    shown = {tuple(one["concepts"]): (one["count_cat"], one["count_no cat"]) for one in found}
    assert shown == {
        ("sofa",): (35, 0),
        ("lamp",): (30, 5),
        ("lamp", "sofa"): (30, 0),
        ("lawn",): (0, 60),
        ("dog",): (0, 65),
        ("dog", "lamp"): (0, 5),
        ("dog", "lawn"): (0, 60),
    }
    for concepts, (with_cat, without) in shown.items():
        asked = ["-p", f"concepts={json.dumps(concepts)}", "-p", "compared=cat", "-f", "json"]
        rows = json.loads(run("cypher", "concepts-against-rest", "-d", dataset, *asked).stdout)
        assert {one["class"]: (one["images"], one["class_size"]) for one in rows} == {
            "cat": (with_cat, 35),
            "no cat": (without, 65),
        }
    run("plan", dataset, "--planner", "minimal", "--min-size", 1)
    plan = ["cypher", "plan-queries", "-d", dataset, "-p", "plan=minimal", "-f", "json"]
    queries = {tuple(one["concepts"]): one["n"] for one in json.loads(run(*plan).stdout)}
    assert queries
    assert {one["class"] for one in json.loads(run(*plan).stdout)} == {"all images"}
    assert all("cat" in names or {"sofa", "lamp"} & {*names} for names in queries)
    refused = run("resample", dataset, "over-sampling", exit_code=1).stderr
    assert "is compared by 'cat'" in refused
    run("mine", dataset, "--classes", "", "--max-size", 2)
    assert "no classes" in run("imbalances", dataset).stderr
    assert "Did you mean 'cat'?" in run("mine", dataset, "--classes", "cta", exit_code=2).stderr


def test_two_splits(run, dataset, tmp_path):
    file = tmp_path / "split.csv"
    images = [  # of each: split, class, concepts, how many
        *[("train", "urban", "road", 9), ("train", "urban", "cow", 1)],
        *[("train", "country", "road", 2), ("train", "country", "cow", 9)],
        *[("val", "urban", "road", 4), ("val", "country", "road", 4), ("val", "urban", "cow", 3)],
    ]
    rows = [f"{split},{label},{shown}" for split, label, shown, n in images for _ in range(n)]
    lines = [f"{i},{row}" for i, row in enumerate(rows)]
    file.write_text("\n".join(["id,split,class,concepts", *lines, ""]))
    run("ingest", file, "--dataset", dataset)
    between = ("compare", "splits", dataset, "train", "val")
    found = {row["concepts"][0]: row for row in json.loads(run(*between, "-f", "json").stdout)}
    assert found.keys() == {"cow", "road"}
    assert [found["road"][f"count_first_{name}"] for name in ("country", "urban")] == [2, 9]
    assert [found["road"][f"count_second_{name}"] for name in ("country", "urban")] == [4, 4]
    assert found["cow"]["rate_second_urban"] == pytest.approx(3 / 7)
    assert found["cow"]["test"] == "exact"
    shown = run(*between, "--max-q", 0.5)
    assert "train \N{RIGHTWARDS ARROW} val" in shown.stderr
    assert "holds in" in shown.stdout
    usage = run("compare", "splits", dataset, "train", "test", exit_code=2)
    assert "unknown split 'test'. Known: train, val." in usage.stderr
    run("compare", "splits", dataset, "train", "train", exit_code=2)
    run(*between, "--by", "lift", exit_code=2)


def test_what_has_become_of_imbalances_in_another_dataset(run, store, mined, tmp_path):
    other = f"{mined} renamed"
    file = tmp_path / "more.csv"
    file.write_text(ROWS + "6,urban,cow\n7,country,road\n")
    run("ingest", file, "--dataset", other)
    assert "has not been mined" in run("compare", "datasets", mined, other, exit_code=1).stderr
    run("mine", other)
    # cow: 2, 1 then 2, 2; road: 1, 3 then 2, 3; cow + road: 1, 1 both times.
    compare = ("compare", "datasets", mined, other)
    counts = (*compare, "--as-counts")
    done = run(*counts, "--format", "json")
    assert [(row["concepts"], row["status"], row["delta"]) for row in json.loads(done.stdout)] == [
        (["road"], "reduced", -1),
        (["cow"], "solved", -1),
    ]
    said = (
        "Imbalances by counts: 1 solved, 0 introduced, 1 reduced, 0 grown, 0 unchanged, 0 absent. "
        "Sum of gaps: 3 \N{RIGHTWARDS ARROW} 1."
    )
    assert said in done.stderr
    shown = run(*counts, width=150).stdout
    assert said in shown
    assert "2 \N{RIGHTWARDS ARROW} 1" in shown
    csv = run(*counts, "-f", "csv", "--limit", "1")
    assert len(csv.stdout.splitlines()) == 2
    assert "Smaller changes not listed: 1 (see --limit)" in csv.stderr
    run(*counts, "-f", "parquet", "-o", tmp_path / "t.parquet")
    assert pd.read_parquet(tmp_path / "t.parquet")["gap_after"].tolist() == [1, 0]

    # Of seven images nothing can be told.
    by_rates = run(*compare)
    assert "0 of 3 combinations lean to a class; 0 did." in by_rates.stdout
    assert "Imbalances by counts" not in run(*compare, "--as-rates").stdout
    usage = run(*compare, "--by", "lift", exit_code=2)
    assert "No such option: --by" in usage.stderr
    assert "There is no dataset" in run("compare", "datasets", mined, "nothing", exit_code=1).stderr


def test_datasets_can_be_listed_shown_renamed_and_dropped(run, store, mined):
    listed = json.loads(run("datasets", "list", "--format", "json").stdout)
    (own,) = [row for row in listed if row["dataset"] == mined]
    assert (own["images"], own["classes"], own["concepts"], own["state"]) == (5, 2, 3, "ready")
    shown = run("datasets", "show", mined, width=150).stdout
    assert "5 nodes, 7 edges" in shown
    assert "cars.csv" in shown
    assert "Images per split" not in shown
    assert "cars.csv" in run("datasets", "list", width=150).stdout
    run("datasets", "rename", mined, f"{mined} renamed")
    assert "There is no dataset" in run("imbalances", mined, exit_code=1).stderr
    run("datasets", "drop", f"{mined} renamed", "--yes")
    dropped = run("datasets", "drop", f"{mined} renamed", exit_code=1)
    assert "There is no dataset" in dropped.stderr


def test_bad_input_names_the_place_and_writes_nothing(run, store, dataset, table):
    table.write_text(ROWS + "6,,cow\n")
    failed = run("ingest", table, "--dataset", dataset, exit_code=1)
    assert "line 7" in failed.stderr
    assert "--on-error skip" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert failed.stdout == ""
    assert "There is no dataset" in run("mine", dataset, exit_code=1).stderr
    skipped = run("ingest", table, "--dataset", dataset, "--on-error", "skip")
    assert skipped.stderr.splitlines()[-5:] == [
        "Skipped 1 malformed record:",
        f"  {table}, line 7: the class is empty. Name the image's class.",
        f"{dataset}: 5 images new, 0 changed, 0 deleted, 0 as before.",
        "Images: none names a file, so that none can be shown, edited or exported.",
        f"Next: cobalance mine '{dataset}'",
    ]


def test_another_file_of_the_same_name_is_no_second_part(run, store, dataset, tmp_path):
    first, other = tmp_path / f"{dataset}.csv", tmp_path / "other" / f"{dataset}.csv"
    first.write_text(ROWS)
    other.parent.mkdir()
    other.write_text("id,class,concepts\n6,cat,sofa\n7,dog,sofa\n")
    run("ingest", first)
    refused = run("ingest", other, exit_code=1).stderr
    assert (
        f"The dataset '{dataset}' holds 5 images from {first.name}; those now loaded from "
        f"{first.name} are others. Name another dataset, or give --if-exists replace to put these "
        "images in place of those, or --if-exists append to add them."
    ) in refused
    assert set(class_sizes(store, dataset)) == {"country", "urban"}
    assert run("ingest", other, "--dataset", dataset, exit_code=1).stderr == refused
    run("ingest", other, "--if-exists", "append")
    assert class_sizes(store, dataset) == {"cat": 1, "country": 2, "dog": 1, "urban": 3}
    # One that is there is enough.
    first.write_text(ROWS + "8,urban,cow\n")
    assert f"{dataset}: 1 image new, 0 changed" in run("ingest", first).stderr
    other.write_text("id,class,concepts\n9,cat,sofa\n")
    run("ingest", other, "--if-exists", "replace")
    assert class_sizes(store, dataset) == {"cat": 1}


def test_what_to_do_next_depends_on_what_is_mined(run, mined, table):
    assert f"Next: cobalance imbalances '{mined}'" in run("ingest", table, "-d", mined).stderr
    table.write_text(ROWS + "6,urban,cow\n")
    assert f"Next: cobalance mine '{mined}'" in run("ingest", table, "-d", mined).stderr
    assert f"Run `cobalance mine '{mined}'`." in run("imbalances", mined, exit_code=1).stderr


def test_a_plan_of_nothing_says_what_would_be_one(run, cars):
    done = run("plan", cars, "--planner", "conbias")
    assert "The plan asks for 0 images in 0 queries." in done.stdout
    why = "No gap to close: every class shows each of its cliques in as many images. Gaps "
    why += "remain in 1 smaller clique: to close them, too, plan with --min-size 1."
    assert why in done.stderr
    refused = run("enqueue", cars, exit_code=1).stderr
    assert f"The plan 'conbias' asks for no images. {why}" in refused
    assert "No gap" not in run("plan", cars, "--planner", "conbias", "--min-size", "1").stderr


def test_a_list_of_datasets_has_a_line_for_each_on_80_columns(environment, store, cars):
    listed = on_terminal(80, environment, "datasets", "list").splitlines()
    assert max(map(len, listed)) <= 80
    # The names take a third of the line at most; a file keeps both ends of its name.
    rows = [line for line in listed if line.strip().startswith("test ")]
    assert len(rows) == len([name for name in list_datasets(store)["dataset"] if "test" in name])
    assert any("instances_" in row and "2017.csv" in row and "…" in row for row in rows)


def on_terminal(columns, environment, *arguments):
    """What a person sees on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    unset = {name: value for name, value in environment.items() if name != "COLUMNS"}
    with subprocess.Popen(
        [sys.executable, "-m", "cobalance.app", *arguments],
        env=unset | {"TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as child:
        os.close(theirs)
        shown = bytearray()
        with contextlib.suppress(OSError):  # what the end of the terminal reads as
            while part := os.read(ours, 4096):
                shown += part
    os.close(ours)
    assert child.returncode == 0
    return shown.decode()


def test_the_version_needs_no_other_package(environment):
    without = "import sys; sys.modules['pandas'] = sys.modules['typer'] = None"
    told = "sys.argv[1:] = ['--version']; from cobalance.app.__main__ import main; main()"
    said = run_code(environment, f"{without}; {told}")
    assert said == f"cobalance {version('cobalance')}\n"


def test_a_command_imports_its_own_modules_alone(environment):
    modules = {f"cobalance.app.cli.{place.partition('.')[0]}" for place in HOMES.values()}
    listed = f"sorted({modules} & sys.modules.keys())"
    told = "sys.argv[1:] = ['mine', '--help']; from cobalance.app.cli.main import run"
    code = f"import sys, atexit; atexit.register(lambda: print({listed})); {told}; run()"
    assert run_code(environment, code).endswith("['cobalance.app.cli.diagnose']\n")


def test_splits_are_listed_where_one_is_needed(run, store, dataset, table):
    rows = zip(ROWS.splitlines(), ["split", "train", "train", "test", "", "train"], strict=True)
    table.write_text("".join(f"{row},{split}\n" for row, split in rows))
    run("ingest", table, "--dataset", dataset)
    assert "Images per split: test 1, train 3, (none) 1" in run("datasets", "show", dataset).stdout
    unknown = run("mine", dataset, "--split", "nope", exit_code=2)
    assert "unknown split 'nope'. Known: test, train." in unknown.stderr


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_shows_the_traceback(run, place):
    arguments = ["mine", "no such dataset"]
    arguments.insert(place, "--debug")
    assert "Traceback" in run(*arguments, exit_code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("imbalances", 2, "Missing argument"),
        ("mine CARS --max-size none", 2, "valid integer"),
        ("mine CARS --split nope", 2, "unknown split 'nope'"),
        ("plan CARS --planner magic", 2, "Known: conbias, minimal, published"),
        ("ingest FILE --rename-class a", 2, "is not NAME=VALUE"),
        ("imbalances nope", 1, "There is no dataset 'nope'"),
        ("imbalances CARS --class nope", 2, "unknown class 'nope'"),
        ("compare datasets CARS nope", 1, "There is no dataset 'nope'"),
        ("datasets rename CARS CARS2", 1, "exists already"),
        ("enqueue nope", 1, "There is no dataset 'nope'"),
        ("enqueue CARS --plan nope", 2, "unknown plan 'nope'"),
        ("jobs show nope", 1, "There is no job 'nope'"),
        ("jobs list --dataset nope", 1, "There is no dataset 'nope'"),
        ("export nope FOLDER", 1, "There is no job 'nope'"),
        ("cypher nope", 2, "unknown query 'nope'"),
        ("ingest nope.csv", 1, "nope.csv"),
        ("enqueue CARS --settings nope.toml", 1, "nope.toml: cannot be read"),
        ("datasets list -f csv -o FOLDER", 1, "Is a directory"),
        ("imbalances CARS2", 1, "has not been mined yet"),
        ("datasets list", 0, ""),
    ],
)
def test_exit_codes(environment, cars, tmp_path, arguments, code, said):
    names = {"CARS": cars, "CARS2": f"{cars} 2", "FILE": "x.csv", "FOLDER": str(tmp_path)}
    done = call(environment, *(names.get(word, word) for word in arguments.split()))
    assert done.returncode == code, done.stderr
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_settings_that_cannot_be_used_are_named(run):
    unreachable_server = {"NEO4J_URI": "bolt://127.0.0.1:9", "NEO4J_PASSWORD": ""}
    no_password = run("datasets", "list", exit_code=2, **unreachable_server)
    assert "NEO4J_PASSWORD" in no_password.stderr
    unreachable = run(
        "datasets", "list", exit_code=1, NEO4J_URI="bolt://127.0.0.1:9", NEO4J_PASSWORD="x"
    )
    assert "No Neo4j server answers at bolt://127.0.0.1:9" in unreachable.stderr
    wrong = run("datasets", "list", exit_code=2, COBALANCE_IDLE_STOP_S="soon", NEO4J_URI="")
    assert "COBALANCE_IDLE_STOP_S='soon'" in wrong.stderr


def test_saved_and_free_queries_run_and_writes_are_refused(run, mined):
    rows = json.loads(
        run("cypher", "imbalance-of-concepts", "-d", mined, "-p", "concepts=cow",
            "-p", "concepts=road", "-f", "json").stdout
    )  # fmt: skip
    assert {row["class"]: row["images"] for row in rows} == {"country": 1, "urban": 1}
    free = run(
        "cypher", "MATCH (y:Class {dataset: $dataset}) RETURN y.name AS name ORDER BY name",
        "-d", mined, "-f", "csv",
    )  # fmt: skip
    assert free.stdout == "name\ncountry\nurban\n"
    cut = run("cypher", "UNWIND range(1, 10) AS i RETURN i", "--limit", "3", "-f", "csv")
    assert cut.stdout == "i\n1\n2\n3\n"
    assert "first 3 rows" in cut.stderr
    cut = run("cypher", "concepts", "-d", mined, "--limit", "2", "-f", "csv")
    assert cut.stdout == "concept,images\nroad,4\ncow,3\n"
    assert "first 2 rows" in cut.stderr
    refused = run("cypher", "MATCH (n) DETACH DELETE n", exit_code=1)
    assert "DETACH" in refused.stderr
    slow = run(
        "cypher", "UNWIND range(1, 100000000) AS x RETURN sum(x)", "--timeout", "1", exit_code=1
    )
    assert "1" in slow.stderr
    listed = run("cypher", "--list", "-f", "json").stdout
    assert {row["query"] for row in json.loads(listed)} == set(CATALOGUE)
    assert "MATCH" in run("cypher", "classes", "--show").stdout
    assert "unknown query 'clases'" in run("cypher", "clases", exit_code=2).stderr


def test_parameters_are_read_as_declared():
    query = CATALOGUE["images-of-clique"]
    assert parse_parameters(["concepts=a=b", "concepts=[x", "limit=3"][:1], query) == {
        "concepts": ["a=b"]
    }
    assert parse_parameters(['concepts=["a","b"]', "class=7", "limit=3"], query) == {
        "concepts": ["a", "b"],
        "class": "7",
        "limit": 3,
    }
    assert parse_parameters(["a=7", "b=x", 'c=["y"]', 'd="7"']) == {
        "a": 7,
        "b": "x",
        "c": ["y"],
        "d": "7",
    }
    with pytest.raises(OptionError, match="NAME=VALUE"):
        parse_parameters(["a"])


def test_names_are_cleaned_as_those_that_were_read(run, dataset, tmp_path):
    name = f"{dataset} caf\u00e9"
    typed = f" {dataset} cafe\u0301\u200b"
    file = tmp_path / "cars.csv"
    file.write_text(
        "id,class,concepts,split\n1,a,x,caf\u00e9\n2,b,x|y,caf\u00e9\n3,b,y,caf\u00e9\n"
    )
    try:
        run("ingest", file, "--dataset", typed)
        run("mine", typed, "--split", " cafe\u0301 ", "--common", " b")
        rows = json.loads(run("imbalances", typed, "--concept", "y ", "-f", "json").stdout)
        assert [row["concepts"] for row in rows] == [["y"], ["x", "y"]]
        query = ("cypher", "imbalances-with-concepts", "-d", typed, "-p", "concepts= y")
        rows = json.loads(run(*query, "-f", "json").stdout)
        assert [row["concepts"] for row in rows] == [["y"], ["x", "y"]]
        run("plan", name, "--planner", "conbias", "--name", " mine ", "--min-size", 1)
        assert "mine" in run("cypher", "plans", "-d", name).stdout
        assert "0 lost their lean" in run("compare", "datasets", name, typed).stdout
        done = run("plan", name, "--planner", "conbias", "--name", " ", exit_code=2)
        assert "'' cannot name a plan" in done.stderr
        run("datasets", "rename", typed, f"{typed} 2 ")
    finally:
        run("datasets", "drop", f"{name} 2", "--yes")


def test_the_demo_ends_on_one_screen(run, store, environment):
    done = run("demo", width=120)
    assert "The plan asks for 7,308 images" in done.stdout
    assert "cow + forest_road" in done.stdout
    assert len(done.stdout.splitlines()) <= 40
    if "NEO4J_URI" in environment:
        run("datasets", "drop", "urbancars", "--yes")


def test_store_status_says_where_and_how_long(run, settings):
    status = run("store", "status").stdout
    if settings.neo4j_uri is None:
        assert "The local server is" in status
        assert "COBALANCE_IDLE_STOP_S" in status
        assert "is ready at" in run("store", "start").stdout
    else:
        assert "answers" in status


def test_a_dataset_is_mined_as_it_was_last(run, store, tmp_path):
    name = f"test {uuid.uuid4()}"
    file = tmp_path / "splits.csv"
    rows = [f"{n},{'ab'[n % 2]},x|y,{'train' if n % 3 else 'val'}" for n in range(12)]
    file.write_text("\n".join(["id,class,concepts,split", *rows]) + "\n")
    options = ("--max-size", 2, "--min-support", 2, "--any-class", "--split", "train")
    try:
        run("ingest", file, "-d", name)
        run("mine", name, *options)
        mined = "Counted in split 'train': cliques of up to 2 concepts, in at least 2 images"
        assert mined in run("imbalances", name).stderr
        assert mined in run("datasets", "show", name).stdout
        assert mined in run("plan", name, "--planner", "conbias").stderr
        again = f"cobalance mine '{name}'"
        assert (
            f"{again} --max-size 3"
            in run("plan", name, "--planner", "conbias", "--max-size", 3, exit_code=2).stderr
        )
        file.write_text(file.read_text() + "12,a,x,train\n")
        assert f"Next: {again}" in run("ingest", file, "-d", name).stderr
        assert again in run("imbalances", name, exit_code=1).stderr
        shown = run("datasets", "show", name).stdout
        assert f"{mined} of a class. The images have changed" in shown
        kept = f"Options not given are as mined last. {mined} of a class."
        assert kept in run("mine", name).stderr
        assert mined in run("imbalances", name).stderr
        kept = "cliques of up to 1 concept that every class shows, in at least 2 images of a class."
        some = ("--max-size", 1, "--split", "", "--every-class")
        assert f"Counted in all images: {kept}" in run("mine", name, *some).stderr
        assert f"Counted in split 'val': {kept}" in run("mine", name, "--split", "val").stderr
        every = (*options, "--confidence", 0.9)
        assert "as mined last" not in run("mine", name, *every).stderr
        kept = "in at least 2 images of a class. Intervals of 0.9."
        assert kept in run("mine", name, "--common", "a").stderr
        contradiction = run("mine", name, "--common", "a", "--any-class", exit_code=2)
        assert "contradicts" in contradiction.stderr
    finally:
        drop_dataset(store, name)


@pytest.fixture
def loaded(run, store, tmp_path):
    """Load rows into a dataset of the test's own, and mine it."""
    names = []

    def load(rows, *options, columns="id,class,concepts"):
        names.append(f"test {uuid.uuid4()}")
        file = tmp_path / "rows.csv"
        file.write_text("\n".join([columns, *rows]) + "\n")
        run("ingest", file, "-d", names[-1])
        return names[-1], run("mine", names[-1], *options).stderr

    yield load
    for name in names:
        drop_dataset(store, name)


@pytest.mark.parametrize("command", ["imbalances", "datasets show"])
def test_many_classes_take_few_lines_of_a_narrow_screen(run, loaded, command):
    shown = ["cow|road" if n % 20 < 8 else "road" for n in range(400)]
    rows = [f"{n},class_number_{n % 20},{concepts}" for n, concepts in enumerate(shown)]
    name, _ = loaded(rows, "--any-class")
    done = run(*command.split(), name, width=80)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 30
    assert "Not shown, as the terminal is narrow: " in done.stderr
    assert "class number 19" in done.stderr.partition("Not shown")[2]


ALONE = "Nothing can be compared: only class 'a' has images."


@pytest.mark.parametrize("rows", [["1,a,x|y", "2,a,x", "3,a,"], ["1,a,x"], ["1,a,"]])
def test_one_class_is_told_and_not_compared(run, loaded, rows):
    name, said = loaded(rows)
    assert ALONE in said
    done = run("imbalances", name)
    assert ALONE in done.stderr
    assert ("x" in done.stdout) is ("x" in rows[0])
    assert isinstance(json.loads(run("imbalances", name, "--format", "json").stdout), list)
    assert ALONE in run("plan", name, "--planner", "conbias").stderr


def test_a_split_with_one_class(run, loaded):
    rows = ["1,a,x,val", "2,a,x,train", "3,b,x,train"]
    name, said = loaded(rows, "--split", "val", columns="id,class,concepts,split")
    assert "Nothing can be compared: in split 'val' only class 'a' has images." in said
    assert "in split 'val' only class 'a'" in run("imbalances", name).stderr


def test_no_common_concept_is_told_with_what_would_help(run, loaded):
    name, said = loaded(["1,a,x", "2,a,x", "3,b,y"], "--max-size", 2)
    assert "missing-concepts" in said
    help_ = f"run `cobalance mine '{name}' --any-class`"
    for command in ("imbalances", "plan"):
        said = run(command, name).stderr
        assert help_ in said
        assert "No gap to close" not in said
        assert "filters" not in said
    run("mine", name, "--any-class")
    assert "No clique passes these filters" in run("imbalances", name, "--min-size", 2).stderr


def test_concepts_that_were_left_out_are_told_beside_every_table(run, loaded):
    rows = ["1,a,x|y", "2,a,x", "3,b,y|x", "4,b,z", "5,b,v|w"]
    name, _ = loaded(rows)
    said = "3 of 5 concepts are left out, since some class never shows them. To keep them, run "
    said += f"`cobalance mine '{name}' --any-class`."
    commands = [("imbalances", name), ("plan", name), ("compare", "datasets", name, name)]
    for command in commands:
        assert " ".join(run(*command).stderr.split()).count(said) == 1
    run("mine", name, "--any-class")
    for command in commands:
        assert "left out" not in run(*command).stderr


def test_what_only_one_class_has_to_show(run, loaded):
    name, said = loaded(["1,a,x", "2,b,y|x", "3,b,y"], "--common", "a")
    listed = f"cobalance cypher missing-concepts -d '{name}' -p classes=a"
    assert f"1 concept that 'a' never shows. See `{listed}`" in said
    rows = run("cypher", "missing-concepts", "-d", name, "-p", "classes=a", "-f", "csv").stdout
    assert rows.splitlines()[1:] == ["a,y,2"]


def test_unequal_classes_have_rates_and_a_warning(run, loaded):
    rows = [f"{n},big,{'x' if n % 2 else ''}" for n in range(40)]
    name, said = loaded([*rows, "40,small,x", "41,small,"])
    warning = "Class 'small' has only 2 images, and 'big' 40"
    assert warning in said
    done = run("imbalances", name)
    assert warning in done.stderr
    assert "% of small" in done.stdout
    assert done.stdout.count("50.0%") == 2


@pytest.mark.parametrize("n_classes", [6, 20])
def test_a_row_names_the_classes_that_it_compares(run, loaded, n_classes):
    records = images(n_classes)
    expected = rows_of(records)
    names = ["|".join(mention.concept for mention in one.mentions) for one in records]
    rows = [f"{n},{one.class_name},{names[n]}" for n, one in enumerate(records)]
    name, _ = loaded(rows, "--any-class", "--max-size", 2)
    table = run("imbalances", name, "--limit", 100).stdout
    for clique, row in expected.items():
        (line,) = [one for one in table.splitlines() if one.startswith(f" {' + '.join(clique)}  ")]
        assert row.rate_difference in line
        assert row.log_odds_text in line
        assert re.search(rf"\s{row.gap:,}\s+{row.most}\s+{row.fewest}\s", line)
    for by in ("log_odds_ratio", "effect"):
        asked = run("imbalances", name, "--by", by, "--limit", 100, "-f", "csv").stdout
        found = list(csv.DictReader(asked.splitlines()))
        order = []
        for line in found:
            row = expected[tuple(json.loads(line["concepts"]))]
            assert (line["highest_rate"], line["lowest_rate"]) == (row.highest, row.lowest)
            assert (line["over_represented"], line["under_represented"]) == (row.most, row.fewest)
            odds = [float(line[f"log_odds_ratio{end}"]) for end in ("", "_low", "_high")]
            assert odds == pytest.approx(row.log_odds)
            assert float(line["effect"]) == pytest.approx(float(row.effect))
            order.append(float(row.effect) if by == "effect" else row.log_odds[0])
        assert order == pytest.approx(sorted(order, reverse=True))
        assert len(order) == len(expected)


def test_the_most_significant_come_first(run, loaded):
    rows = [f"{n},{'ab'[n % 2]},{'x|y' if n % 2 else 'x' if n % 3 else 'y'}" for n in range(60)]
    name, _ = loaded(rows)
    for column in ("q_value", "p_value"):
        for order in ((), ("--ascending",)):
            asked = ("--by", column, *order, "-f", "json")
            found = [row[column] for row in json.loads(run("imbalances", name, *asked).stdout)]
            assert found == sorted(found)
            assert len(set(found)) > 1


def test_an_empty_name_of_a_dataset_is_refused(run, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,class,concepts\n1,a,x\n")
    for name in ("", "  "):
        assert "cannot name a dataset" in run("ingest", file, "-d", name, exit_code=2).stderr


def test_a_name_in_brackets_is_no_list():
    query = CATALOGUE["imbalance-of-concepts"]
    for value, names in (
        ("[bold]", ["[bold]"]),
        ('["cow", "road"]', ["cow", "road"]),
        ("cow", ["cow"]),
    ):
        assert parse_parameters([f"concepts={value}"], query) == {"concepts": names}
