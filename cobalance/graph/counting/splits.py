"""Count the same cliques in two splits of a dataset."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from cobalance.graph.counting.cliques import Cliques, mine_cliques
from cobalance.graph.counting.incidence import Incidence, build_incidence
from cobalance.graph.errors import check_known


def split_cliques(
    first: Incidence,
    second: Incidence,
    *,
    max_size: int = 4,
    min_support: int = 1,
    common: Collection[str] | None = None,
    max_cliques: int | None = None,
) -> tuple[Cliques, Cliques]:
    """Mine two sets of images together, and count each clique in both of them.

    Parameters
    ----------
    first, second : Incidence
        Of images that are in one set alone. Names may differ; the result has those of both.
    max_size, min_support, common, max_cliques
        As in `mine_cliques`, of the images of both together.

    Returns
    -------
    pair of Cliques
        With the same rows, concepts and classes.

    Raises
    ------
    OptionError, UnknownNameError, TooManyCliquesError
        As `mine_cliques` does.

    Notes
    -----
    One pass over all images, in which a class of the first set and of the second count as two.

    Examples
    --------
    >>> train = build_incidence([0, 0, 1], [0, 1, 0], [0, 1], ("sand", "sea"), ("gull", "wren"))
    >>> val = build_incidence([0], [0], [0], ("sand",), ("gull",))
    >>> one, other = split_cliques(train, val, common=())
    >>> one.names(), one.counts.tolist(), other.counts.tolist()
    ([('sand',), ('sea',), ('sand', 'sea')], [[1, 1], [1, 0], [1, 0]], [[1, 0], [0, 0], [0, 0]])
    """
    parts = (first, second)
    concepts = sorted({name for part in parts for name in part.concepts})
    classes = sorted({name for part in parts for name in part.classes})
    check_known("class", common or (), classes)
    concept_code = {name: code for code, name in enumerate(concepts)}
    class_code = {name: code for code, name in enumerate(classes)}
    images, codes, labels, n_images = [], [], [], 0
    for number, part in enumerate(parts):
        places = np.array([concept_code[name] for name in part.concepts], dtype=np.int64)
        of_class = np.array([class_code[name] for name in part.classes], dtype=np.int64)
        rows = np.arange(n_images, n_images + len(part.labels))
        images.append(np.repeat(rows, np.diff(part.indptr)))
        codes.append(places[part.indices])
        labels.append(of_class[part.labels] + number * len(classes))
        n_images += len(part.labels)
    together = build_incidence(
        np.concatenate(images),
        np.concatenate(codes),
        np.concatenate(labels),
        concepts,
        [f"{code:09}" for code in range(2 * len(classes))],
    )
    shown = together.class_concept_counts().reshape(2, len(classes), -1).sum(axis=0)
    asked = [common is None or name in common for name in classes]
    mined = mine_cliques(
        together.restrict((shown[asked] > 0).all(axis=0)),
        max_size=max_size,
        min_support=-(-min_support // 2),  # what has it in both together has half of it in one
        common=(),
        max_cliques=max_cliques,
    )
    by_set = mined.counts.reshape(-1, 2, len(classes))
    kept = mined.take(by_set.sum(axis=1).max(axis=1, initial=0) >= min_support)
    counts = kept.counts.reshape(-1, 2, len(classes))
    sizes = kept.class_sizes.reshape(2, len(classes))
    one, other = (
        replace(kept, counts=counts[:, i], class_sizes=sizes[i], classes=tuple(classes))
        for i in range(2)
    )
    return one, other
