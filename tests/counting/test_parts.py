"""Counts of parts add up to those of the whole, however images come in batches."""

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import cobalance as cb
from cobalance.base.errors import DataError
from cobalance.counting import parts
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.counting.mining_options import MiningOptions
from cobalance.counting.parts import count_scanned, read_singles

CONCEPTS = ["água", "cow", "field", "rain", "stop sign"]
CLASSES = ["farm", "sea", "town"]
IMAGES = st.lists(
    # Names may repeat in a list, and stand in any order.
    st.tuples(st.sampled_from(CLASSES), st.lists(st.sampled_from(CONCEPTS), max_size=6)),
    min_size=1,
    max_size=60,
)


def batch_of(images, *, coded=False):
    labels, concepts = zip(*images, strict=True)
    columns = {
        "label": pa.array(labels, pa.string()),
        "concepts": pa.array(concepts, pa.list_(pa.string())),
    }
    if coded:
        columns["label"] = columns["label"].dictionary_encode()
        columns["concepts"] = columns["concepts"].cast(
            pa.list_(pa.dictionary(pa.int32(), pa.string()))
        )
    return pa.RecordBatch.from_pydict(columns)


def scan_of(images, sizes, *, coded=False):
    """Images in batches of some sizes, each other batch in a task of its own."""
    batches = []
    start = 0
    for size in [*sizes, len(images)]:
        if rows := images[start : start + size]:
            batches.append(batch_of(rows, coded=coded))
        start += size

    def scan(kernel):
        yield from kernel(iter(batches[::2]))
        yield from kernel(iter(batches[1::2]))

    return scan


@settings(deadline=None, max_examples=60)
@given(
    images=IMAGES,
    sizes=st.lists(st.integers(1, 20), max_size=4),
    size=st.integers(1, 4),
    support=st.integers(1, 6),
    common=st.sampled_from([None, (), ("farm",)]),
    sums_up_to=st.sampled_from([0, 10**6]),
    coded=st.booleans(),
)
def test_counts_are_those_of_all_images(images, sizes, size, support, common, sums_up_to, coded):
    classes = sorted({label for label, _ in images})
    if common and not {*common} <= {*classes}:
        common = None
    incidence = build_incidence(
        [row for row, (_, names) in enumerate(images) for _ in names],
        [CONCEPTS.index(name) for _, names in images for name in names],
        [classes.index(label) for label, _ in images],
        CONCEPTS,
        classes,
    )
    wanted = mine_cliques(incidence, max_size=size, min_support=support, common=common)

    scan = scan_of(images, sizes, coded=coded)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SUMS_UP_TO", sums_up_to)
        patch.setattr(parts, "IMAGES_AT_ONCE", 15)
        patch.setattr(parts, "_ROWS_TO_ADD", 20)
        singles = read_singles(scan)
        found = count_scanned(scan, singles, MiningOptions(size, support, common), 10**6)

    assert found.names() == wanted.names()
    assert found.counts.tolist() == wanted.counts.tolist()
    assert found.classes == wanted.classes
    assert found.class_sizes.tolist() == wanted.class_sizes.tolist()
    without = dict.fromkeys(classes, 0)
    for label, names in images:
        without[label] += not names
    assert singles.without_concepts == without


def test_a_clique_that_is_rare_in_each_part_is_counted():
    images = [("farm", ["cow"])] * 6 + [("sea", ["rain"])] * 60
    scan = scan_of(sorted(images * 4), [50] * 5)
    frame = cb.imbalances_of_batches(scan, max_size=1, min_support=24, common=()).frame
    assert sorted(frame["concepts"]) == [("cow",), ("rain",)]


def test_images_without_a_class_are_told():
    scan = scan_of([("farm", ["cow"]), (None, ["cow"]), ("", [])], [])
    with pytest.raises(DataError, match="2 images have no class"):
        cb.imbalances_of_batches(scan)
    with pytest.raises(DataError, match="There are no images"):
        cb.imbalances_of_batches(lambda kernel: kernel(iter(())))
