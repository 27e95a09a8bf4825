"""Settlement records: JSON files with the ranks of the candidates of some queries each.

A record is written before the graph is: where the graph keeps the winners alone, it holds what
became of the others.
"""

import json
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from cobalance.generation.output.manifest_rows import Row
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError

Settled = dict[str, Any]
"""What a settlement makes of a candidate's row: ``verdict``, ``rank`` and ``reason``.

Also ``decided_by`` where a person had decided, and ``judged``, by filter, what those filters say
that look at all images of the job.
"""


def add_settled(
    folder: OutputFolder, job: str, round_number: int, first: int, settled: Mapping[str, Settled]
) -> None:
    """Add candidates by id to the record of a round's queries from `first` on.

    They replace those of an interrupted settlement; queries that it did settle stay.
    """
    name = f"{job}/settled/{round_number:06d}-{first:06d}.json"
    try:
        before: dict[str, Settled] = json.loads(folder.read(name))
    except OutputMissingError:
        before = {}
    text = json.dumps(before | dict(settled), ensure_ascii=False, sort_keys=True, indent=0)
    folder.write(name, text.encode())


class Settlements:
    """Settlements of all rounds of a job, read query by query.

    Only records that queries to come are in are held: those of some hundred queries for each round
    that has settled them.
    """

    def __init__(self, folder: OutputFolder, job: str) -> None:
        self._folder, self._job = folder, job
        records = []
        for name in folder.names(f"{job}/settled"):
            number, first = name.partition(".")[0].split("-")
            records.append((int(first), int(number), name))

        # The last one is the next to read.
        self._left = sorted(records, reverse=True)
        self._held: dict[int, list[tuple[int, int, dict[str, Settled]]]] = {}

    def of_query(self, query: int) -> dict[str, Settled]:
        """Read a query's settlement by candidate, from the last round that has one.

        Parameters
        ----------
        query : int
            Its position in the job, no less than at the calls before.
        """
        for earlier in [position for position in self._held if position < query]:
            del self._held[earlier]
        while self._left and self._left[-1][0] <= query:
            self._load(*self._left.pop(), query)

        # Entries of a later round take the place of those of an earlier one.
        settled: dict[str, Settled] = {}
        for *_, of_round in sorted(self._held.get(query, ()), key=itemgetter(0, 1)):
            settled |= of_round
        return settled

    def _load(self, first: int, number: int, name: str, query: int) -> None:
        """Keep a record's entries from a query on."""
        by_query: dict[int, dict[str, Settled]] = {}
        record = json.loads(self._folder.read(f"{self._job}/settled/{name}"))
        for candidate, settled in record.items():
            by_query.setdefault(int(candidate.split("/")[-2]), {})[candidate] = settled
        for position, of_query in by_query.items():
            if position >= query:
                self._held.setdefault(position, []).append((number, first, of_query))


def with_settlement(row: Row, settled: Settled | None, in_graph: Mapping[str, Any] | None) -> Row:
    """A candidate's row updated by its settlement, then by the newer verdict in the graph.

    One that is settled and not in the graph was dropped with its files.
    """
    changes = dict(settled or {})
    judged = changes.pop("judged", {})
    updated = {"rank": None} | row | changes | dict(in_graph or {})

    if judged:
        scores = json.loads(row["scores"]) | judged
        updated["scores"] = json.dumps(scores, ensure_ascii=False, sort_keys=True)
    # The files of a candidate that the graph has dropped are deleted.
    if in_graph is None:
        updated |= {"path": None, "mask_path": None}
    return updated
