"""Delete the files of candidates that lost, where a job does not keep them."""

from collections.abc import Collection

from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.settlement import read_kept
from cobalance.ingest.stored.output_folder import OutputFolder


def delete_dropped(
    store: GraphStore, folder: OutputFolder, job: str, queries: Collection[int] | None = None
) -> int:
    """Delete images and masks of candidates that the graph has dropped; return how many files.

    May be repeated, and finds what an interrupted one has left. A query that has dropped none keeps
    all of its files.

    Parameters
    ----------
    queries : collection of int or None
        Positions of the job's queries; None for all.
    """
    files: dict[int, list[tuple[int, str]]] = {}
    for part in ("images", "masks"):
        for name in folder.names(f"{job}/{part}"):
            numbers = name.partition(".")[0].split("-")
            if len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
                continue
            query, index = map(int, numbers)
            if queries is None or query in queries:
                files.setdefault(query, []).append((index, f"{job}/{part}/{name}"))
    deleted = 0
    for found in read_kept(store, job, sorted(files)):
        kept = {int(candidate.rpartition("/")[2]) for candidate in found.kept}
        for index, name in files[found.query]:
            if index < found.settled and index not in kept:
                folder.delete(name)
                deleted += 1
    return deleted
