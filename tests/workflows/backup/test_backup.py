"""Backups: equal when restored, also after a kill; damaged and hostile files are refused."""

import hashlib
import json
import signal
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cobalance.base.errors import ConflictError, DataError, OptionError, StaleError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.output.job_manifest import manifest_name
from cobalance.graph.database import migrations, schema
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.dataset.state import dataset_state, list_datasets
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.rounds import active_jobs
from cobalance.graph.jobs.status import read_job
from cobalance.workflows.backup import archive, store_backup
from cobalance.workflows.backup.store_backup import back_up, restore
from cobalance.workflows.diagnose.mine import mine
from cobalance.workflows.load.dataset import drop_dataset
from tests.browser.server import environment_of
from tests.support.manifests import read_manifest
from tests.support.waiting import until
from tests.workflows.backup.conftest import WANTED, dump, work

OLD = Path(__file__).parents[2] / "data" / "backup-1.zip"


@pytest.fixture(scope="module")
def first(store, made):
    """The first dataset, as it is when the backup is made."""
    return dump(store, made.names[:1])


@pytest.fixture(scope="module")
def backup(store, own, made, first, tmp_path_factory):
    file = tmp_path_factory.mktemp("backup") / "all.zip"
    back_up(store, own.folders(), file, made.names, with_generated=True)
    return file


@pytest.fixture
def bring(elsewhere, made):
    """Restore a file elsewhere; what is there is dropped afterwards."""

    def refused(file, match):
        """Refuse to replace a dataset, which stays as it is."""
        name = made.names[0]
        images = Annotations.from_records([ImageRecord("1", "a"), ImageRecord("2", "b")])
        write_annotations(elsewhere.store, name, images, source="x")
        before = dump(elsewhere.store, [name])
        with pytest.raises(DataError, match=match) as error:
            bring(file, replace=True)
        assert dump(elsewhere.store, [name]) == before
        return str(error.value)

    def bring(file, *datasets, **options):
        found = elsewhere.settings
        return restore(
            elsewhere.store, found.folders(), found.queue_url(), file, datasets, **options
        )

    bring.refused = refused
    yield bring
    for name in list_datasets(elsewhere.store)["dataset"]:
        drop_dataset(elsewhere.store, elsewhere.settings.folders(), name)


def files_of(folders):
    """Files beside the graph and of the workers, by content."""
    found = [
        path
        for part in ("regions", "captions", "embeddings", "generated")
        for path in (folders.home / part).rglob("*")
        if path.is_file() and path.name != ".lock"
    ]
    return {
        str(path.relative_to(folders.home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in found
    }


def test_original_restored_and_restored_again_are_equal_and_the_job_goes_on(
    store, own, made, backup, bring, elsewhere, tmp_path
):
    before, files = dump(store, made.names), files_of(own.folders())
    labels = {label for text in before for label in json.loads(text).get("labels", ())}
    assert labels == {
        node.label for node in schema.ALL_NODES if node not in (schema.WORKER, schema.MIGRATION)
    } - {"Attribute", "StudyAnswer"}
    bring(backup)
    assert dump(elsewhere.store, made.names) == before
    assert files_of(elsewhere.settings.folders()) == files
    again = tmp_path / "again.zip"
    back_up(elsewhere.store, elsewhere.settings.folders(), again, with_generated=True)
    drop_dataset(elsewhere.store, elsewhere.settings.folders(), made.names[0])
    bring(again, made.names[0])
    assert dump(elsewhere.store, made.names) == before

    done = {name: digest for name, digest in files.items() if f"{made.job}/chunks" in name}
    work(elsewhere.settings)
    found = read_job(elsewhere.store, made.job)
    assert (found.state, found.accepted) == ("done", WANTED)
    after = files_of(elsewhere.settings.folders())
    assert done
    assert done.items() <= after.items()
    work(own)
    one, other = (
        read_manifest(Path(each.folders().output) / manifest_name(made.job))
        for each in (own, elsewhere.settings)
    )
    assert one["sha256"].tolist() == other["sha256"].tolist()
    assert len(one) == WANTED

    # Over the job that is done: its chunks in the queue are forgotten, and it ends once more.
    with pytest.raises(ConflictError, match="already"):
        bring(backup)
    bring(backup, replace=True)
    assert read_job(elsewhere.store, made.job).made == made.made
    work(elsewhere.settings)
    assert read_job(elsewhere.store, made.job).accepted == WANTED


@pytest.fixture
def large(store, dataset):
    """A dataset that takes a while to read and to write."""
    records = [
        ImageRecord(f"{at}", "ab"[at % 2], tuple(Mention(f"c{at % n}") for n in (3, 5, 7)))
        for at in range(6_000)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


def kill(settings, condition, *arguments):
    """Run a command, and kill it by force when the condition holds."""
    environment = environment_of(settings)
    if settings.neo4j_uri is None:
        environment.pop("NEO4J_URI", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "cobalance.app", *map(str, arguments)], env=environment
    )
    try:
        until(lambda: condition() or process.poll() is not None, 240)
        assert process.poll() is None, "it ended too early"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_a_killed_backup_leaves_the_earlier_file_and_a_killed_restore_is_run_again(
    store, settings, own, large, bring, elsewhere, tmp_path
):
    file = tmp_path / "a [b].zip"
    back_up(store, own.folders(), file, [large])
    earlier, before = file.read_bytes(), dump(store, [large])

    def begun():
        return any(left.stat().st_size for left in tmp_path.glob(".*.tmp"))

    kill(settings, begun, "store", "backup", file, large)
    assert file.read_bytes() == earlier
    assert len(list(tmp_path.iterdir())) == 2
    back_up(store, own.folders(), file, [large])
    assert list(tmp_path.iterdir()) == [file]
    assert dump(store, [large]) == before

    images = "MATCH (n:Image {dataset: $name}) RETURN count(n) AS n"
    kill(
        elsewhere.settings,
        lambda: elsewhere.store.read(images, name=large)[0]["n"] > 0,
        *("store", "restore", file),
    )
    with pytest.raises(StaleError, match="did not end"):
        dataset_state(elsewhere.store, large).require_complete()
    assert list_datasets(elsewhere.store)["state"].tolist() == ["interrupted"]
    with pytest.raises(StaleError, match="did not end"):
        write_annotations(elsewhere.store, large, Annotations.from_records([]), source="x")
    write_annotations(elsewhere.store, "other", Annotations.from_records([]), source="x")
    added = tmp_path / "both.zip"
    rewritten(file, added, lambda _, about: about["datasets"].update(other={}))
    said = f"'other' already. Restoring '{large}' did not end; name that alone to end it"
    with pytest.raises(ConflictError, match=said):
        bring(added)
    bring(file)
    assert dump(elsewhere.store, [large]) == before


def test_of_a_backup_some_datasets_are_restored_with_what_leads_there(
    first, made, backup, bring, elsewhere
):
    whole = made.names[0]
    bring(backup, whole)
    assert list_datasets(elsewhere.store)["dataset"].tolist() == [whole]
    assert dump(elsewhere.store, [whole]) == first
    elsewhere.store.write(
        "MATCH (n) WHERE n.dataset = $name OR n:Dataset AND n.name = $name "
        "SET n.dataset = CASE WHEN n:Dataset THEN null ELSE $new END, "
        "n.name = CASE WHEN n:Dataset THEN $new ELSE n.name END",
        name=whole,
        new="renamed",
    )
    with pytest.raises(ConflictError, match="'renamed', one of these datasets under another name"):
        bring(backup, whole)
    with pytest.raises(OptionError, match="unknown dataset 'x'"):
        bring(backup, "x")
    assert list_datasets(elsewhere.store)["dataset"].tolist() == ["renamed"]


def test_what_is_not_whole_is_left_out_or_refused(store, own, dataset, write_dataset, tmp_path):
    write_dataset(dataset, [("a", ("x",), 2), ("b", ("x", "y"), 3)])
    token = {"name": dataset, "writer": "somebody"}
    store.write("MATCH (d:Dataset {name: $name}) SET d.writer = $writer, d.cliques_digest = null",
                **token)  # fmt: skip
    file = tmp_path / "b.zip"
    back_up(store, own.folders(), file, [dataset])
    with archive.open_backup(file) as found:
        assert len(list(found.rows("graph/Image.jsonl", (str, dict)))) == 5
    store.write("MATCH (d:Dataset {name: $name}) SET d.digest = null", name=dataset)
    with pytest.raises(StaleError, match="did not end"):
        back_up(store, own.folders(), file, [dataset])
    text = tmp_path / "notes.txt"
    text.write_text("mine")
    with pytest.raises(OptionError, match="no backup"):
        back_up(store, own.folders(), text)
    assert text.read_text() == "mine"


def rewritten(backup, target, change):
    """A backup whose parts and manifest are changed, with checksums that are right."""
    with zipfile.ZipFile(backup) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    (about,) = json.loads(parts.pop("manifest.json"))
    change(parts, about)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in parts.items():
            new.writestr(name, data)
        new.writestr("manifest.json", json.dumps([about]))
    return target


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_damaged_files_are_refused_and_nothing_is_written(backup, bring, elsewhere, tmp_path):
    data = backup.read_bytes()
    bad = tmp_path / "bad.zip"
    cuts = {at: data[:at] for at in (0, 1, len(data) // 2, len(data) - 1)}
    with zipfile.ZipFile(backup) as opened:  # a byte of each part; others may be a date's
        starts = [(one.header_offset, one.compress_size) for one in opened.infolist()]
    lengths = [struct.unpack("<HH", data[start + 26 : start + 30]) for start, _ in starts]
    flips = [
        flipped(data, start + 30 + sum(before) + size // 2)
        for (start, size), before in zip(starts, lengths, strict=True)
        if size
    ]
    for broken in (*cuts.values(), *flips):
        bad.write_bytes(broken)
        with pytest.raises(DataError, match=r"bad\.zip[:,]"):
            bring(bad)
    with pytest.raises(DataError, match="No such file"):
        bring(tmp_path / "none.zip")
    assert list_datasets(elsewhere.store).empty


def test_files_made_to_harm_are_refused(backup, bring, elsewhere, made, tmp_path, monkeypatch):
    target = tmp_path / "made.zip"

    def refused(change, match):
        bring.refused(rewritten(backup, target, change), match)

    def later(parts, about):
        about["schema"] = migrations.VERSION + 1

    def format_2(parts, about):
        about["format"] = store_backup.FORMAT + 1

    def unfolds(parts, about):
        parts["output/zeros"] = bytes(2 << 20)

    def unknown(parts, about):
        parts["graph/Image-X]->(b) DETACH DELETE a -Image.jsonl"] = b"{}"

    refused(later, "Upgrade cobalance")
    refused(format_2, "Upgrade cobalance")
    with monkeypatch.context() as patch:
        patch.setattr(archive, "_MOST_TIMES", 1)
        refused(unfolds, "unfolds")
    refused(unknown, "Upgrade cobalance")
    folder = f"output/{made.job}"
    for name in (f"{folder}/../../../x", "output/../../x", f"{folder}//x", f"{folder}/{'x' * 201}"):
        refused(lambda parts, _, name=name: parts.update({name: b"x"}), "damaged .*name is no path")
    refused(lambda parts, _: parts.update({folder: b"x"}), "damaged .*name is no path")

    drop_dataset(elsewhere.store, elsewhere.settings.folders(), made.names[0])
    of_another = {"output/other-job/chunks/0.json": b"x"}
    bring(rewritten(backup, target, lambda parts, _: parts.update(of_another)), made.names[0])
    assert not (elsewhere.settings.cobalance_home / "generated" / "other-job").exists()


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("graph/Job.jsonl", b"[" * 100_000),
        ("graph/Job.jsonl", b"\xff"),
        ("graph/Job.jsonl", b"7"),
        ("graph/Job.jsonl", b"{}"),
        ("graph/Job.jsonl", b'["NAME", {}]'),
        ("graph/Image.jsonl", b'["NAME"]'),
        ("graph/Image.jsonl", b'[["NAME"], {}]'),
        ("graph/Image.jsonl", b'["NAME", {"id": "1", "at": {"$time": 5}}]'),
        ("graph/Image.jsonl", b'["NAME", {"id": "1", "content": {"$bytes": "!"}}]'),
        ("graph/Image.jsonl", b'["NAME", {"id": "1", "n": 1180591620717411303424}]'),
        ("graph/Image.jsonl", b'["NAME", {"id": "\\ud800"}]'),
        ("graph/Image.jsonl", b'["NAME", {"id": "1", "n": {"a": 1}}]'),
        ("graph/Image.jsonl", b'["NAME", {"id": "1", "n": [1, "a"]}]'),
        ("graph/Image.jsonl", b'["NAME", {"id": "1", "": 1}]'),
        ("graph/Image.jsonl", b'["NAME", {"uri": "1.png"}]'),
        ("graph/Image-LABELED-Class.jsonl", b'["NAME", "1", 5, "x", {}]'),
        ("graph/Image-LABELED-Class.jsonl", b'["NAME", {}, "NAME", "x", {}]'),
    ],
)
def test_a_row_that_cannot_be_is_a_sentence_that_names_it(name, row, made, backup, bring, tmp_path):
    def changed(parts, about):
        parts[name] = row.replace(b'"NAME"', json.dumps(made.names[0]).encode())

    target = rewritten(backup, tmp_path / "made.zip", changed)
    error = bring.refused(target, rf"made\.zip, {name}, (up to )?line 1: it is damaged")
    assert error.endswith(" Use another backup.")


@pytest.mark.parametrize(
    "change",
    [
        lambda about, _: about.pop("datasets"),
        lambda about, _: about.update(datasets=["x"]),
        lambda about, name: about.update(datasets={name: None}),
        lambda about, name: about["datasets"][name].update(digest={}),
        lambda about, name: about["datasets"][name].update(mined_classes=["a"]),
        lambda about, _: about.update(schema="x"),
        lambda about, _: about.update(format=None),
    ],
)
def test_a_manifest_that_cannot_be_is_a_sentence(change, made, backup, bring, tmp_path):
    target = tmp_path / "made.zip"
    rewritten(backup, target, lambda _, about: change(about, made.names[0]))
    bring.refused(target, r"manifest\.json, up to line 1: it is damaged")


def test_a_backup_of_the_first_version_is_read_and_brought_up_to_date(
    bring, elsewhere, monkeypatch
):
    """If this fails, `CHANGES` of the migrations lacks what your schema has changed."""
    bring(OLD)
    (name,) = list_datasets(elsewhere.store)["dataset"]
    state = dataset_state(elsewhere.store, name)
    # Its digests may hide that labels moved between images: it is counted anew, once.
    assert (name, state.is_mined) == ("cars", False)
    report = mine(elsewhere.store, name, state.mining_options(), max_cliques=1000)
    assert (report.changed, report.images) == (
        None,
        len(read_annotations(elsewhere.store, name).images),
    )
    counted = elsewhere.store.read(
        "MATCH (k:Clique {dataset: 'cars', concepts: ['cow', 'road']})-[e:COUNTED_IN]->(y) "
        "RETURN y.name AS name, e.images AS images ORDER BY name"
    )
    assert counted == [{"name": "country", "images": 10}, {"name": "urban", "images": 0}]
    held = read_annotations(elsewhere.store, name)
    again = write_annotations(elsewhere.store, name, held, source="cars.csv")
    assert (again.created, again.updated, again.unchanged) == (0, 0, report.images)
    assert [*active_jobs(elsewhere.store)] == ["5f1c"]
    work(elsewhere.settings)
    assert read_job(elsewhere.store, "5f1c").state == "done"
    change = "MATCH (c:Concept {dataset: 'cars'}) SET c.colour = 'red'"
    monkeypatch.setattr(migrations, "CHANGES", {migrations.FIRST + 1: change})
    bring(OLD, replace=True)
    red = "MATCH (c:Concept {colour: 'red'}) RETURN count(c) AS n"
    assert elsewhere.store.read(red) == [{"n": 3}]
