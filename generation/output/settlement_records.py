"""Settlement records: one JSON file per round, with the ranks of the candidates it settled.

A record is written before the graph is: where the graph keeps the winners alone, it holds what
became of the others.
"""

import json
from collections.abc import Mapping
from typing import Any

from generation.output.folder import OutputFolder, OutputMissingError

Settled = dict[str, Any]
"""What a settlement adds to a candidate's row: ``verdict``, ``rank`` and ``reason``."""


class SettlementRecord:
    """The record of a job's round in the output folder."""

    def __init__(self, folder: OutputFolder, job: str, round_number: int) -> None:
        self._folder = folder
        self._name = f"{job}/settled/{round_number:03d}.json"

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
