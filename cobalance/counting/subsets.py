"""Index of cliques by subset: which mined cliques a set of concepts contains."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from cobalance.base import IntArray, sparse

MISSING = -1


def sets_matrix(members: IntArray, n_concepts: int) -> "sparse.csr_matrix":
    """Concept sets as a sparse matrix of 1s: float32, shape (n_sets, n_concepts).

    Parameters
    ----------
    members : int array, shape (n_sets, any width)
        Concept codes in any order; -1 behind the last.
    """
    is_member = members >= 0
    ends = np.append(0, np.cumsum(is_member.sum(axis=1)))
    ones = np.ones(int(ends[-1]), dtype=np.float32)
    return sparse.csr_matrix((ones, members[is_member], ends), (len(members), n_concepts))


class SubsetIndex:
    """The rows of a clique table that are subsets of given concept sets.

    A prefix tree over the table, one hash table a level: following a member costs one look-up, and
    subsets with the same beginning share it.

    Parameters
    ----------
    members : int array, shape (n_cliques, width)
        As in `Cliques`: codes ascending, -1 behind the last, no row twice.
    """

    def __init__(self, members: IntArray) -> None:
        members = np.asarray(members, dtype=np.int64)
        self._base = int(members.max(initial=0)) + 1
        self._keys: list[pd.Index[int]] = []
        self._rows: list[IntArray] = []
        rows = np.arange(len(members))
        nodes = np.zeros(len(members), dtype=np.int64)
        for column in range(members.shape[1]):
            deeper = members[rows, column] >= 0
            rows, nodes = rows[deeper], nodes[deeper]
            keys, nodes = np.unique(nodes * self._base + members[rows, column], return_inverse=True)

            # The rows that end at a node of this level.
            ends = np.full(len(keys), MISSING)
            is_last = column + 1 == members.shape[1]
            complete = slice(None) if is_last else members[rows, column + 1] < 0
            ends[nodes[complete]] = rows[complete]
            self._keys.append(pd.Index(keys))
            self._rows.append(ends)

    def subsets(self, members: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Pair each row of `members` with each row of the table that is a subset of it.

        Parameters
        ----------
        members : int array, shape (n_sets, any width)
            Concept sets in the table's codes: ascending, -1 behind the last.

        Yields
        ------
        positions, rows : int arrays of equal length
            Some of the pairs: a row of `members` (at most once in one yield) and a row of the
            table. Over all yields every pair comes exactly once, a set's own row included.

        Notes
        -----
        O(n_sets x the number of subsets up to the table's width); the subsets themselves are
        never written down.
        """
        members = np.asarray(members, dtype=np.int64)
        start = np.arange(len(members))
        yield from self._walk(members, start, np.zeros_like(start), 0, 0)

    def combinations(self, members: IntArray) -> IntArray:
        """Look up every subset of sets of one size.

        Parameters
        ----------
        members : int array, shape (n_sets, size)
            As of `subsets`, without -1.

        Returns
        -------
        int array, shape (n_sets, 2^size)
            Rows of the table. Bit i of the second index says whether member i is in the subset; -1
            for one that is not in the table, and for the empty one.
        """
        nodes = np.zeros((len(members), 1 << members.shape[1]), dtype=np.int64)
        rows = np.full_like(nodes, MISSING)
        # A subset's node is below that of the subset without its last member.
        for mask in range(1, nodes.shape[1]):
            last, depth = mask.bit_length() - 1, mask.bit_count() - 1
            children = self._children(nodes[:, mask ^ 1 << last], members[:, last], depth)
            nodes[:, mask] = children
            rows[:, mask] = np.append(self._rows[depth], MISSING)[children]

        return rows

    def _children(self, nodes: IntArray, codes: IntArray, depth: int) -> IntArray:
        """The nodes that members lead to from others at a depth; -1 for none."""
        is_code = (nodes != MISSING) & (codes >= 0) & (codes < self._base)
        keys = np.where(is_code, nodes * self._base + codes, MISSING)
        return self._keys[depth].get_indexer(pd.Index(keys))

    def _walk(
        self, members: IntArray, positions: IntArray, nodes: IntArray, depth: int, first: int
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Extend the prefixes that end at `nodes` by each member from column `first` on."""
        if depth == len(self._keys):
            return
        for column in range(first, members.shape[1]):
            children = self._children(nodes, members[positions, column], depth)
            exists = children != MISSING
            if not exists.any():
                continue
            children, extended = children[exists], positions[exists]

            # A prefix of a clique need not be one itself.
            rows = self._rows[depth][children]
            is_clique = rows != MISSING
            yield extended[is_clique], rows[is_clique]
            yield from self._walk(members, extended, children, depth + 1, column + 1)
