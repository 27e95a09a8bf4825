"""All mined cliques of a dataset, packed into a few nodes.

Reading 76,522 clique nodes with their edges takes seconds, reading this copy milliseconds. Mining
writes both, and records in both what was mined.
"""

import zlib

import numpy as np

from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.database import schema
from cobalance.graph.database.statements import write_statement
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.state import DatasetState
from cobalance.graph.errors import Action, StaleError

CLIQUES_PER_PART = 100_000

_MEMBER, _COUNT = np.dtype("<i4"), np.dtype("<i8")
_QUICKLY = 1  # zlib's level: a sixth of the bytes, in a tenth of the time of the thorough one


def write_clique_table(
    store: GraphStore, dataset: str, writer: str, mined_as: str, cliques: Cliques
) -> None:
    """Replace the dataset's packed cliques.

    Parameters
    ----------
    writer : str
        The token from `cobalance.graph.dataset.state.claim`.
    mined_as : str
        As `DatasetState.mined_as` will be.
    """
    store.write(statements.DELETE_CLIQUE_TABLE, dataset=dataset, writer=writer)
    known = np.unique(cliques.members)
    known = known[known >= 0]  # concepts that are in no clique are left out
    members = np.where(cliques.members < 0, -1, np.searchsorted(known, cliques.members))
    concepts = [cliques.concepts[code] for code in known.tolist()]
    parts = max(1, -(-len(cliques) // CLIQUES_PER_PART))
    for part in range(parts):
        rows = slice(part * CLIQUES_PER_PART, (part + 1) * CLIQUES_PER_PART)
        packed = (_pack(members[rows], _MEMBER), _pack(cliques.counts[rows], _COUNT))
        store.write_all(
            write_statement(schema.CLIQUE_TABLE),
            1,
            dataset=dataset,
            writer=writer,
            targets=[],
            rows=[[part, [mined_as, parts, concepts, *packed]]],
        )


def has_clique_table(store: GraphStore, state: DatasetState) -> bool:
    """Whether the packed cliques are complete and belong to `state`."""
    (row,) = store.read(statements.CLIQUE_TABLE_PARTS, dataset=state.name, mined_as=state.mined_as)
    return bool(row["found"] == row["parts"])


def read_clique_table(store: GraphStore, state: DatasetState, width: int) -> Cliques:
    """Read the dataset's cliques as `mine_cliques` returned them, without unused concepts.

    Parameters
    ----------
    state : DatasetState
        Mined.
    width : int
        The largest size that was mined.

    Raises
    ------
    StaleError
        They have been mined anew since `state` was read, or the copy was deleted.
    """
    parts = store.read(statements.CLIQUE_TABLE, dataset=state.name, mined_as=state.mined_as)
    if not parts or len(parts) != parts[0]["parts"]:
        raise StaleError(
            f"The cliques of {state.name!r} have changed meanwhile. ",
            Action("mine", state.name),
            ", or wait if it is being mined now.",
        )
    classes = tuple(name for name, _ in state.mined_classes)
    return Cliques(
        _unpack([part["members"] for part in parts], _MEMBER, width).astype(np.int32),
        _unpack([part["counts"] for part in parts], _COUNT, len(classes)).astype(np.int64),
        np.array([images for _, images in state.mined_classes], dtype=np.int64),
        tuple(parts[0]["concepts"]),
        classes,
    )


def _pack(numbers: IntArray, dtype: np.dtype[np.signedinteger]) -> bytes:
    return zlib.compress(np.ascontiguousarray(numbers, dtype=dtype).tobytes(), _QUICKLY)


def _unpack(packed: list[bytes], dtype: np.dtype[np.signedinteger], columns: int) -> IntArray:
    numbers = np.frombuffer(b"".join(map(zlib.decompress, packed)), dtype=dtype)
    return numbers.reshape(len(numbers) // columns, columns)
