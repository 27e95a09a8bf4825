"""Mistakes that people make on the command line: one sentence each that says what to do."""

import shlex

import pytest

from cobalance.graph.jobs.lifecycle import create_job
from tests.app.cli.calling import EXTRAS, call, run_without

SERVER = {"NEO4J_PASSWORD": "x"}
AWAY = {"NEO4J_URI": "bolt://127.0.0.1:9", **SERVER}
"""A port where nothing listens."""

MISTAKES = [
    # commands and options
    ("mien CARS", 2, "No such command 'mien'. Did you mean 'mine'?"),
    ("retry JOB", 2, "No such command 'retry'. Did you mean 'cobalance jobs retry'?"),
    ("datasets lst", 2, "Did you mean 'list'?"),
    ("mine CARS --max-sze 3", 2, "No such option: --max-sze (Possible options:"),
    ("mine", 2, "Missing argument 'DATASET'."),
    ("jobs cancel", 2, "Missing argument 'JOB'."),
    ("report CARS", 2, "Missing option '--output' / '-o'."),
    ("mine CARS --max-size", 2, "Option '--max-size' requires an argument."),
    ("mine CARS --max-size -1", 2, "Invalid value for '--max-size'"),
    ("mine CARS --max-size two", 2, "should be a valid integer"),
    ("plan CARS --budget 0", 2, "Invalid value for '--budget'"),
    ("mine CARS --confidence 95", 2, "give a value between 0 and 1, such as 0.95"),
    ("app --port 99999", 2, "less than or equal to 65535"),
    (
        "ingest FILE cars",
        2,
        "extra argument(s) (cars). Did you mean --dataset cars?",
    ),
    ("mine CARS urban", 2, "(urban). cobalance mine takes DATASET."),
    ("app --demo cars", 2, "(cars). cobalance app takes no argument, only options."),
    (
        "compare CARS CARS",
        2,
        "of cobalance compare: datasets, splits, published, planners.",
    ),
    ("ingest FILE --if-exists update", 2, "'--if-exists': 'update' is not one of 'fail', 'append'"),
    ("--log-level loud datasets list", 2, "'loud' is not one of 'debug', 'info', 'warning'"),
    ("datasets list --format xml", 2, "'xml' is not one of 'table', 'csv', 'json'"),
    ("datasets list --format parquet", 2, "Parquet is not text. Name a file with --output FILE."),
    # options that contradict each other
    ("mine CARS --common urban --any-class", 2, "give one of them"),
    ("demo --full --annotate", 2, "exclude each other; give one"),
    ("enqueue CARS --plan a --plan-file FILE", 2, "exclude each other; give one of them"),
    ("annotate review CARS --sheet --accept-all", 2, "Give one of --sheet, --from"),
    ("ingest FILE --engine spark", 2, "Give --keep-images sample with it."),
    ("rebalance JOB --set threshold=1", 2, "Name it with --annotator."),
    ("plan CARS --min-size 4 --max-size 2", 2, "--max-size is 2, below --min-size, which is 4."),
    ("evaluate score FILE", 1, "its columns: image, class_name, concepts. Add predicted"),
    # names
    ("mine nope", 1, "There is no dataset 'nope'."),
    ("compare datasets CARS nope", 1, "There is no dataset 'nope'."),
    ("datasets drop nope --yes", 1, "There is no dataset 'nope'. The store has: "),
    ("cypher 'MATCH (n) RETURN n' -d nope", 1, "There is no dataset 'nope'."),
    ("cypher 'RETURN $x + $y'", 1, "Give each one a value: --param x=VALUE, --param y=VALUE."),
    ("plan CARS --clique 'cow + raod'", 2, "mined concept 'raod'. Did you mean 'road'?"),
    (
        "jobs show caa",
        1,
        "first 4 characters of its id, or more. To list those there are:",
    ),
    ("plan CARS --continue nope", 1, "To list those there are: cobalance jobs list"),
    ("imbalances CARS --concept cwo", 2, "unknown concept 'cwo'."),
    ("imbalances CARS --class urbn", 2, "unknown class 'urbn'."),
    ("imbalances CARS --by lfit", 2, "unknown column to sort by 'lfit'."),
    ("mine CARS --split nope", 2, "unknown split 'nope'"),
    ("plan CARS --planner conbais", 2, "unknown planner 'conbais'."),
    ("enqueue CARS --recipe inpiant", 2, "unknown recipe 'inpiant'."),
    ("enqueue CARS --backend procedral", 2, "unknown backend 'procedral'."),
    ("enqueue CARS --filter clipp", 2, "unknown filter 'clipp'."),
    ("enqueue CARS --plan nope", 2, "unknown plan 'nope'."),
    ("evaluate train CARS --method emr", 2, "unknown method 'emr'."),
    ("annotate label CARS --annotator owl", 2, "unknown annotator 'owl'."),
    ("resample CARS prunning", 2, "unknown baseline 'prunning'."),
    ("cypher class", 2, "unknown query 'class'."),
    ("cypher concepts", 2, "Give it with --param dataset=VALUE."),
    ("cypher 'CREATE (n)'", 1, "this console only reads. Start with MATCH"),
    ("cypher 'MATCH (n RETURN n'", 1, "Invalid input 'RETURN'"),
    ("jobs show nope", 1, "There is no job 'nope'."),
    ("jobs cancel SEVERAL", 2, "Give one of them."),
    ("export nope FOLDER", 1, "To list those there are: cobalance jobs list"),
    ("annotate accept nope", 1, "To list those there are: cobalance annotate runs"),
    # assignments
    ("enqueue CARS --set making", 2, "is no NAME=VALUE, such as making.steps=30."),
    ("enqueue CARS --set making.stpes=3", 2, "has no option 'stpes'."),
    ("enqueue CARS --set chunk_size=", 2, "The setting chunk_size is None"),
    ("plan CARS --planner minimal --set tolerance=abc", 2, "tolerance is 'abc'"),
    # files
    ("ingest nope.csv", 1, "there is no such file. Check the path and its spelling."),
    ("ingest FOLDER", 1, "known format: x.txt. Name a file with annotations."),
    ("ingest EMPTY", 1, "is empty. Name a file with annotations."),
    ("tags add CARS night --from EMPTY", 1, "is empty. Name a file with ids of images."),
    ("ingest IMAGE", 1, "is an image. Name the file with its annotations."),
    ("ingest BROKEN", 1, "ends in the middle of a value. Get the whole file again."),
    ("ingest COLUMNS", 1, "no column looks like the image id"),
    ("ingest FILE --input-format coco", 2, "unknown format 'coco'."),
    ("ingest FILE --class-column clss", 1, "Did you mean 'class'?"),
    ("enqueue CARS --settings BROKEN", 1, "is not valid TOML"),
    ("report CARS --output FILE", 1, "exists. Name another file, or replace it (--overwrite)."),
    ("datasets list --output /proc/x.csv", 1, "Name a file that can be written."),
    ("datasets export-graph CARS graph.txt", 2, "choose a format with --as: graphml"),
    ("--log-file FOLDER datasets list", 2, "cannot be written"),
    # before its time
    ("plan LOADED", 1, "Run `cobalance mine"),
    ("imbalances LOADED", 1, "Run `cobalance mine"),
    ("embeddings duplicates CARS", 1, "embeddings compute"),
]

VARIABLES = [
    ({"NEO4J_URI": "bolt://127.0.0.1:9"}, 2, "neither NEO4J_PASSWORD nor NEO4J_PASSWORD_FILE"),
    (AWAY, 1, "No Neo4j server answers at bolt://127.0.0.1:9"),
    (AWAY | {"NEO4J_URI": "localhost"}, None, "is not an address of a Neo4j server"),
    (AWAY | {"NEO4J_URI": "bolt://127.0.0.1:port"}, None, "is not an address of a Neo4j server"),
    (AWAY | {"NEO4J_URI": ":"}, None, "is not an address of a Neo4j server"),
    (AWAY | {"NEO4J_PASSWORD_FILE": "/nope"}, 2, "Name a file that this user can read."),
    ({"COBALANCE_HOME": "FILE"}, 1, "cannot be used: Not a directory"),
    ({"COBALANCE_HEAP_MB": "lots"}, 2, "Change or unset it."),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    contents = {
        "FILE": b"id,class,concepts\n1,country,cow\n2,urban,road\n",
        "EMPTY": b"",
        "IMAGE": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "BROKEN": b'{"images": [',
        "COLUMNS": b"name,foo\nx,y\n",
    }
    for name, content in contents.items():
        (folder / f"{name.lower()}.csv").write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "folder" / "x.txt").touch()
    return {name: str(folder / f"{name.lower()}.csv") for name in contents} | {
        "FOLDER": str(folder / "folder")
    }


def sentence(done):
    """What a command said, on one line, without the frame around errors of usage."""
    assert "Traceback" not in done.stdout + done.stderr
    return " ".join(done.stderr.replace("│", " ").split())


def test_each_mistake_has_a_sentence_that_says_what_to_do(environment, planned, store, files, run):
    assert len(MISTAKES) >= 60
    run("ingest", files["FILE"], "--dataset", f"{planned}-rebalanced")  # which the fixture drops
    for end in "00", "01":
        create_job(store, planned, "mine", [("urban", ("cow",), 1)], job=f"{planned[-8:]}{end}")
    words = files | {"CARS": planned, "LOADED": f"{planned}-rebalanced", "SEVERAL": planned[-8:],
                     "JOB": f"{planned[-8:]}00"}  # fmt: skip
    wrong = []
    for typed, code, expected in MISTAKES:
        done = call(environment, *(words.get(word, word) for word in shlex.split(typed)))
        said = sentence(done)
        if (done.returncode, expected in said) != (code, True):
            wrong.append((typed, done.returncode, said))
    assert wrong == []


@pytest.mark.parametrize(("variables", "code", "expected"), VARIABLES, ids=str)
def test_a_variable_that_cannot_be_used_is_named(environment, files, variables, code, expected):
    own = {name: files.get(value, value) for name, value in variables.items()}
    if "COBALANCE_HOME" in own:
        environment = {k: v for k, v in environment.items() if not k.startswith("NEO4J_")}
    done = call(environment | own, "datasets", "list")
    assert expected in sentence(done)
    assert done.returncode in ((1, 2) if code is None else (code,))


def test_a_variable_that_nobody_reads_is_told(environment, planned):
    misspelt = {"COBALANCE_IMAGE": "x", "NEO4J_PASWORD": "x", "NEO4J_PLUGINS": "[]"}
    done = call(environment | misspelt, "datasets", "show", planned)
    assert done.returncode == 0
    said = done.stderr.splitlines()
    assert (
        said.count("COBALANCE_IMAGE is set, and nothing reads it. Did you mean COBALANCE_IMAGES?")
        == 1
    )
    assert "NEO4J_PASWORD is set, and nothing reads it. Did you mean NEO4J_PASSWORD?" in said
    assert "NEO4J_PLUGINS" not in done.stderr  # it is Neo4j's own
    assert "nothing reads it" not in call(environment, "datasets", "show", planned).stderr


def test_a_command_without_its_extra_names_it(environment):
    done = run_without(environment, ["worker"], "work", "--until-idle")
    assert done.returncode == 1
    assert "pip install" in sentence(done)
    assert len(EXTRAS) > 3
