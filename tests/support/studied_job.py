"""A job whose edits are ready to be judged by people, without a worker."""

import shutil
from pathlib import Path

from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import start_queries
from tests.support.edited_job import GROUPS, draw_picture

CAPTION = "A {} in a field with a dog"
SENTENCE = CAPTION.format("____")


def write_studied_job(store: GraphStore, dataset: str, folder: Path, images: int) -> str:
    """Write pictures of men and women in turn, and a job with an accepted edit for both groups."""
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for at in range(images):
        draw_picture(at)[0].save(folder / f"{at}.png")
        shutil.copy(folder / f"{at}.png", folder / f"{at}-edit.png")
        mentions = (Mention("dog"),)
        records.append(ImageRecord(f"{at}", GROUPS[at % 2], mentions, "train", f"{at}.png"))
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    queries = [
        PlannedQuery(
            group, ("dog",), 1, Edit(f"{at}", CAPTION.format(group), own_group=GROUPS[at % 2])
        )
        for at in range(images)
        for group in GROUPS
    ]
    job = create_job(store, dataset, "twins", queries, settings={"recipe": "resampled"})
    ids = [query_id(job, position) for position in range(len(queries))]
    start_queries(store, job, 0, ids)
    made = {
        query: [
            NewCandidate(
                f"{query}/0",
                f"{at // 2}-edit.png",
                "accepted",
                source_image=f"{at // 2}",
                source_uri=f"{at // 2}.png",
                scores={"same_colours": 0.875},
            )
        ]
        for at, query in enumerate(ids)
    }
    record_made(store, job, made)
    return job
