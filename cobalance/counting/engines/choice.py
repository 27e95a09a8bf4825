"""Choose a counting engine, and count the cliques of an incidence matrix with it."""

import sys
from collections.abc import Collection, Generator
from math import comb
from typing import Literal, get_args

import numpy as np

from cobalance.base import IntArray, needs_extra
from cobalance.counting.engines import expansion
from cobalance.counting.incidence import Incidence

Block = tuple[IntArray, IntArray]
"""Members and counts of some cliques."""
Engine = Literal["auto", "numpy", "numba"]

ENGINES: tuple[str, ...] = get_args(Engine)

# Occurrences (image, clique in it) from which numba is the quicker engine; see choose_engine.
NUMBA_FROM = 20_000_000
READY_NUMBA_FROM = 50_000


def choose_engine(incidence: Incidence, max_size: int, *, numba_ready: bool) -> Engine:
    """Choose the faster engine: "numba" above a number of occurrences, else "numpy".

    An occurrence is an image with a clique of two or more in it; all are counted, supported or
    not, for that takes no time. numba pays from `NUMBA_FROM` on, or from `READY_NUMBA_FROM` on in
    a process that has its machine code already.

    Seconds by ``python -m benchmarks.mining --engines`` on two Xeon cores at 2.6 GHz, with the
    machine code on disk; compiling it the first time of all takes 18 s more:

    ====================  ========  ===========  ======  ==================  ============
    images x concepts     max_size  occurrences   NumPy  numba, new process  numba, ready
    ====================  ========  ===========  ======  ==================  ============
    8,000 x 18                   4      114,767   0.017                 1.7         0.001
    32,582 x 80                  3      595,211   0.067                 1.3         0.009
    32,582 x 80                  4    1,014,535   0.14                  1.2         0.026
    250,000 x 80                 4    7,812,165   0.85                  1.6         0.066
    2,000,000 x 600              3  282,540,376  36                     3.2         1.4
    ====================  ========  ===========  ======  ==================  ============

    Parameters
    ----------
    incidence : Incidence
        What to mine.
    max_size : int
        Members of the largest clique.
    numba_ready : bool
        Whether an earlier call has compiled or loaded the machine code.
    """
    least = READY_NUMBA_FROM if numba_ready else NUMBA_FROM
    occurrences = 0
    n_images_by_length = np.bincount(np.diff(incidence.indptr)).tolist()
    for length, n_images in enumerate(n_images_by_length):
        if not n_images:
            continue
        for size in range(2, min(length, max_size) + 1):
            occurrences += n_images * comb(length, size)
            if occurrences >= least:
                return "numba"
    return "numpy"


def numba_ready() -> bool:
    """Whether this process has the compiled code; does not import numba, which takes 0.5 s."""
    projection = sys.modules.get("cobalance.counting.engines.projection")
    # Another thread may just be importing it.
    is_ready = getattr(projection, "is_ready", None)
    return is_ready is not None and bool(is_ready())


def mine(
    engine: Engine,
    incidence: Incidence,
    max_size: int,
    min_support: int,
    common: Collection[str] | None,
    threads: int | None,
    limit: int,
) -> Generator[Block]:
    """Yield all cliques in blocks, single concepts first; parameters as in `mine_cliques`."""
    if engine == "numba":
        with needs_extra("The counting engine numba", "compiled"):
            from cobalance.counting.engines import projection

        workers = projection.threads_for(incidence, threads)
        singles = projection.count_items(incidence, workers)
    else:
        singles = incidence.class_concept_counts()

    codes = _select_concepts(singles, incidence.classes, common, min_support)
    yield codes[:, None], singles[:, codes].T

    if engine == "numba":
        rarest_first = codes[np.argsort(singles[:, codes].sum(axis=0), kind="stable")]
        yield from projection.mine(incidence, rarest_first, min_support, max_size, workers, limit)
    else:
        selected = np.zeros(len(incidence.concepts), dtype=np.bool_)
        selected[codes] = True
        yield from expansion.mine(incidence.restrict(selected), codes, min_support, max_size)


def _select_concepts(
    singles: IntArray, classes: tuple[str, ...], common: Collection[str] | None, min_support: int
) -> IntArray:
    """Return the concepts with enough support that occur with every class in `common`."""
    is_named = np.array([common is None or name in common for name in classes], dtype=np.bool_)
    adjacent = (singles[is_named] > 0).all(axis=0)
    return np.flatnonzero(adjacent & (singles.max(axis=0, initial=0) >= min_support))
