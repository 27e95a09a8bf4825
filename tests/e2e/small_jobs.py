"""Small jobs to order, and what must be there when they are done."""

from pathlib import Path

from PIL import Image

from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.output.job_manifest import manifest_name
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.status import read_job
from cobalance.vision.stored.output_folder import OutputFolder
from tests.support.manifests import read_manifest

QUERIES = [("country", ("cow", "gate"), 5), ("urban", ("cow",), 4), ("urban", ("gate",), 3)]
WANTED = sum(n for _, _, n in QUERIES)
PLAIN = {"filters": {"blank": {}}, "chunk_size": 4}


def candidates(store, job):
    return list_candidates(store, job, per_page=1000).candidates


def draw_masks(folder, ids):
    for i in ids:
        mask = Image.new("L", (48, 40))
        mask.paste(255, (10, 10, 20, 20))
        mask.save(folder / f"{i}.png")


def assert_complete(store, own, job):
    found = read_job(store, job)
    assert (found.state, found.covered) == ("done", WANTED), found
    folder = OutputFolder(own.folders().output)
    names = sorted(candidate.id for candidate in candidates(store, job))
    assert [row["candidate"] for row in read_records(folder, job)] == names
    manifest = read_manifest(Path(own.folders().output) / manifest_name(job))
    assert manifest["candidate"].tolist() == names
