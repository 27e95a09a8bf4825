"""Settlement records: JSON files with the ranks of the candidates of some queries each.

A record is written before the graph is: where the graph keeps the winners alone, it holds what
became of the others.
"""

import json
from collections.abc import Mapping
from typing import Any

from generation.output.folder import OutputFolder, OutputMissingError
from generation.output.rows import Row

Settled = dict[str, Any]
"""What a settlement makes of a candidate's row: ``verdict``, ``rank`` and ``reason``.

Also ``decided_by`` where a person had decided, and ``judged``, by filter, what those filters say
that look at all images of the job.
"""


class SettlementRecord:
    """The record of some queries of a job, from `first` on, that a round has completed."""

    def __init__(self, folder: OutputFolder, job: str, round_number: int, first: int) -> None:
        self._folder = folder
        self._name = f"{job}/settled/{round_number:06d}-{first:06d}.json"

    def add(self, settled: Mapping[str, Settled]) -> None:
        """Add candidates by id, in place of what an interrupted settlement has left of them.

        Queries that it did settle are in it already, and stay.
        """
        try:
            before: dict[str, Settled] = json.loads(self._folder.read(self._name))
        except OutputMissingError:
            before = {}
        text = json.dumps(before | dict(settled), ensure_ascii=False, sort_keys=True, indent=0)
        self._folder.write(self._name, text.encode())


def read_settlements(folder: OutputFolder, job: str) -> dict[str, Settled]:
    """Read what all rounds of a job have settled, by candidate, as the last one has it."""
    settled: dict[str, Settled] = {}
    for name in folder.names(f"{job}/settled"):
        settled |= json.loads(folder.read(f"{job}/settled/{name}"))
    return settled


def with_settlement(row: Row, settled: Settled | None, in_graph: Mapping[str, Any] | None) -> Row:
    """A candidate's row with its settlement, and with what the graph has of it, which is newer.

    One that is settled and not in the graph was dropped with its files.
    """
    changes = dict(settled or {})
    judged = changes.pop("judged", {})
    found = {"rank": None} | row | changes | dict(in_graph or {})
    if judged:
        scores = json.loads(row["scores"]) | judged
        found["scores"] = json.dumps(scores, ensure_ascii=False, sort_keys=True)
    return found if in_graph is not None else found | {"path": None, "mask_path": None}
