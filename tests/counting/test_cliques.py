"""Mining: hand-computed cases, a brute-force twin, and the same answer from every engine."""

import hashlib
import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from cobalance.base.errors import OptionError, TooManyCliquesError, UnknownNameError
from cobalance.counting import cliques as cliques_module
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.engines import expansion
from cobalance.counting.engines.choice import choose_engine
from cobalance.counting.engines.compiled import intrinsics
from cobalance.counting.engines.compiled.intrinsics import compile_cached, entry_point
from cobalance.counting.engines.projection import run_shared
from cobalance.counting.incidence import Incidence, build_incidence

Image = tuple[str, set[str]]
Miner = Callable[..., Cliques]
Answer = dict[tuple[str, ...], list[int]]

BIRDS: list[Image] = [
    ("gull", {"sand", "sea", "sky"}),
    ("gull", {"sand", "sea"}),
    ("gull", {"sand", "sky"}),
    ("gull", set()),
    ("wren", {"sand", "sky"}),
    ("wren", {"sea", "tree"}),
    ("wren", {"tree"}),
]


@pytest.fixture(params=[("numpy", 1), ("numba", 1), ("numba", 2)], ids=lambda p: f"{p[0]}-{p[1]}")
def mine(request: pytest.FixtureRequest) -> Miner:
    engine, threads = request.param

    def run(incidence: Incidence, **options: Any) -> Cliques:
        return mine_cliques(incidence, engine=engine, threads=threads, **options)

    return run


def incidence_of(images: list[Image], classes: set[str] | None = None) -> Incidence:
    concepts = sorted(set().union(*(held for _, held in images)))
    names = sorted(classes or {label for label, _ in images})
    entries = [(row, concepts.index(c)) for row, (_, held) in enumerate(images) for c in held]
    rows, codes = zip(*entries, strict=True) if entries else ((), ())
    labels = [names.index(label) for label, _ in images]
    return build_incidence(rows, codes, labels, concepts, names)


def answer_of(cliques: Cliques) -> Answer:
    return dict(zip(cliques.names(), cliques.counts.tolist(), strict=True))


def brute_force(
    images: list[Image],
    classes: list[str],
    max_size: int,
    min_support: int,
    common: set[str] | None = None,
) -> Answer:
    """Count every combination in every image, with Python sets and nothing else."""
    counts: Answer = {}
    for label, held in images:
        for size in range(1, max_size + 1):
            for members in itertools.combinations(sorted(held), size):
                counts.setdefault(members, [0] * len(classes))[classes.index(label)] += 1
    named = range(len(classes)) if common is None else [classes.index(name) for name in common]
    adjacent = {
        concept
        for (concept, *more), by_class in counts.items()
        if not more and all(by_class[label] > 0 for label in named)
    }
    kept = [m for m, n in counts.items() if max(n) >= min_support and adjacent.issuperset(m)]
    return {members: counts[members] for members in sorted(kept, key=lambda m: (len(m), m))}


@st.composite
def datasets(draw: st.DrawFn) -> tuple[list[Image], list[str]]:
    classes = [f"class{code}" for code in range(draw(st.integers(1, 5)))]
    concepts = [f"concept{code}" for code in range(draw(st.integers(1, 9)))]
    image = st.tuples(st.sampled_from(classes), st.sets(st.sampled_from(concepts)))
    return draw(st.lists(image, max_size=40)), classes


def random_incidence(
    images: int, concepts: int, classes: int, density: float, seed: int = 0
) -> Incidence:
    rng = np.random.default_rng(seed)
    popularity = density * rng.uniform(0.2, 1.8, concepts)
    rows, codes = np.nonzero(rng.random((images, concepts)) < popularity)
    return build_incidence(
        rows,
        codes,
        rng.integers(0, classes, images),
        [f"concept{code:04d}" for code in range(concepts)],
        [f"class{code:04d}" for code in range(classes)],
    )


def test_all_cliques_of_the_birds(mine: Miner) -> None:
    cliques = mine(incidence_of(BIRDS), max_size=3, common=())
    assert answer_of(cliques) == {
        ("sand",): [3, 1],
        ("sea",): [2, 1],
        ("sky",): [2, 1],
        ("tree",): [0, 2],
        ("sand", "sea"): [2, 0],
        ("sand", "sky"): [2, 1],
        ("sea", "sky"): [1, 0],
        ("sea", "tree"): [0, 1],
        ("sand", "sea", "sky"): [1, 0],
    }
    assert cliques.class_sizes.tolist() == [4, 3]
    assert cliques.members.dtype == np.int32
    assert cliques.counts.dtype == np.int64
    assert cliques.members.shape == (9, 3)
    assert cliques.members[0].tolist() == [0, -1, -1]
    assert cliques.sizes().tolist() == [1, 1, 1, 1, 2, 2, 2, 2, 3]


def test_common_cliques_need_every_class_for_each_concept_not_for_the_clique(mine: Miner) -> None:
    """Each of sand and sea occurs with wrens; that no wren has both is what mining must show."""
    found = answer_of(mine(incidence_of(BIRDS)))
    assert found[("sand", "sea")] == [2, 0]
    assert not any("tree" in members for members in found)


def test_a_chosen_subset_relaxes_the_condition(mine: Miner) -> None:
    found = answer_of(mine(incidence_of(BIRDS), common=["wren"]))
    assert found[("tree",)] == [0, 2]
    assert found == brute_force(BIRDS, ["gull", "wren"], 4, 1, {"wren"})


def test_support_is_the_largest_count_of_a_class_not_the_total(mine: Miner) -> None:
    found = answer_of(mine(incidence_of(BIRDS), min_support=2, common=()))
    assert ("sand", "sea") in found
    assert ("sand", "sea", "sky") not in found
    split = [("gull", {"sea", "sky"}), ("wren", {"sea", "sky"})]
    assert len(mine(incidence_of(split), min_support=2)) == 0


@pytest.mark.parametrize(
    "images",
    [[], [("gull", set())], [("gull", {"sea"})]],
    ids=["no images", "no concepts", "one concept"],
)
def test_next_to_nothing(mine: Miner, images: list[Image]) -> None:
    cliques = mine(incidence_of(images, {"gull", "wren"}), common=())
    assert len(cliques) == sum(len(held) for _, held in images)
    assert cliques.members.shape[1] == 4
    assert cliques.counts.shape[1] == 2


def test_a_class_without_images_has_no_common_clique(mine: Miner) -> None:
    incidence = incidence_of(BIRDS, {"gull", "wren", "auk"})
    assert len(mine(incidence)) == 0
    found = answer_of(mine(incidence, common=["gull", "wren"]))
    assert found[("sand", "sea")] == [0, 2, 0]


def test_a_concept_without_images_is_in_no_clique(mine: Miner) -> None:
    incidence = build_incidence([0, 0], [0, 2], [0], ["a", "b", "c"], ["y"])
    assert answer_of(mine(incidence, common=())) == {("a",): [1], ("c",): [1], ("a", "c"): [1]}


def test_no_classes_and_no_concepts(mine: Miner) -> None:
    assert len(mine(build_incidence([], [], [], [], []))) == 0


def test_cliques_of_any_size(mine: Miner) -> None:
    held = {f"c{code:02d}" for code in range(12)}
    cliques = mine(incidence_of([("gull", held), ("gull", {"c03"})]), max_size=40)
    assert len(cliques) == 2**12 - 1
    assert cliques.names()[-1] == tuple(sorted(held))
    assert cliques.members.shape[1] == 40


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    data=datasets(),
    max_size=st.integers(1, 7),
    min_support=st.integers(1, 4),
    subset=st.none() | st.sets(st.integers(0, 4)),
)
def test_equals_brute_force(
    mine: Miner,
    data: tuple[list[Image], list[str]],
    max_size: int,
    min_support: int,
    subset: set[int] | None,
) -> None:
    images, classes = data
    common = None if subset is None else {classes[code % len(classes)] for code in subset}
    cliques = mine(
        incidence_of(images, set(classes)),
        max_size=max_size,
        min_support=min_support,
        common=common,
    )
    found = answer_of(cliques)
    expected = brute_force(images, classes, max_size, min_support, common)
    assert list(found.items()) == list(expected.items())


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=datasets(), seed=st.randoms(use_true_random=False))
def test_order_of_images_and_names_of_concepts_change_nothing(
    mine: Miner, data: tuple[list[Image], list[str]], seed: Any
) -> None:
    images, classes = data
    concepts = sorted(set().union(*(held for _, held in images)))
    renamed = dict(zip(concepts, seed.sample(concepts, len(concepts)), strict=True))
    shuffled = [(label, {renamed[c] for c in held}) for label, held in images]
    seed.shuffle(shuffled)
    before = answer_of(mine(incidence_of(images, set(classes))))
    after = answer_of(mine(incidence_of(shuffled, set(classes))))
    assert {tuple(sorted(renamed[c] for c in m)): n for m, n in before.items()} == after


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((4000, 40, 2, 0.15), {"max_size": 4, "min_support": 3}),
        ((4000, 40, 2, 0.3), {"max_size": 5, "min_support": 60}),
        ((300, 60, 100, 0.1), {"max_size": 5, "min_support": 1}),
        ((2000, 400, 3, 0.015), {"max_size": 4, "min_support": 2}),
        ((3000, 30, 1200, 0.2), {"max_size": 3, "min_support": 2}),
        ((70, 10, 2, 0.9), {"max_size": 10, "min_support": 10}),
    ],
    ids=["sparse", "dense", "many classes", "many concepts", "more classes", "all sizes"],
)
def test_engines_agree_on_data_that_takes_every_branch(
    shape: tuple[int, int, int, float], options: dict[str, Any]
) -> None:
    incidence = random_incidence(*shape)
    one, two, three = (
        mine_cliques(incidence, common=(), engine=engine, threads=threads, **options)
        for engine, threads in (("numpy", None), ("numba", 1), ("numba", 3))
    )
    assert len(one) > 500
    for other in (two, three):
        assert np.array_equal(one.members, other.members)
        assert np.array_equal(one.counts, other.counts)
    at_random = np.random.default_rng(0).choice(len(one), 20, replace=False)
    assert_counts_by_dense_columns(incidence, one, at_random)


def assert_counts_by_dense_columns(
    incidence: Incidence, cliques: Cliques, rows: np.ndarray[Any, Any]
) -> None:
    images = np.zeros((len(incidence.labels), len(incidence.concepts)), dtype=bool)
    images[np.repeat(np.arange(len(images)), np.diff(incidence.indptr)), incidence.indices] = True
    for row in rows:
        members = cliques.members[row][cliques.members[row] >= 0]
        together = images[:, members].all(axis=1)
        counted = np.bincount(incidence.labels[together], minlength=len(incidence.classes))
        assert counted.tolist() == cliques.counts[row].tolist()


def test_support_never_rises_as_a_clique_grows() -> None:
    found = answer_of(mine_cliques(random_incidence(500, 12, 3, 0.3), common=()))
    for members, counts in found.items():
        for left_out in members if len(members) > 1 else ():
            smaller = found[tuple(m for m in members if m != left_out)]
            assert all(few <= many for few, many in zip(counts, smaller, strict=True))


def test_small_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    incidence = random_incidence(300, 15, 2, 0.3)
    whole = mine_cliques(incidence, engine="numpy")
    monkeypatch.setattr(expansion, "BLOCK", 50)
    assert answer_of(mine_cliques(incidence, engine="numpy")) == answer_of(whole)


def test_too_many_cliques(mine: Miner) -> None:
    incidence = random_incidence(400, 30, 2, 0.4)
    with pytest.raises(
        TooManyCliquesError, match=r"More than 100 cliques.*minimum support.*maximum size"
    ):
        mine(incidence, max_cliques=100)
    total = len(mine(incidence, max_size=3))
    assert len(mine(incidence, max_size=3, max_cliques=total)) == total
    with pytest.raises(TooManyCliquesError):
        mine(incidence, max_size=3, max_cliques=total - 1)


def test_the_limit_allows_for_the_memory_of_many_classes(
    mine: Miner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cliques_module, "MAX_COUNTS", 1000)
    with pytest.raises(TooManyCliquesError, match="More than 10 cliques"):
        mine(random_incidence(400, 30, 100, 0.4), common=())


@pytest.mark.parametrize(
    "options", [{"max_size": 0}, {"min_support": 0}, {"max_cliques": 0}, {"threads": -1}]
)
def test_a_number_below_one_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"is (0|-1)\. Give a whole number of 1 or more"):
        mine_cliques(incidence_of(BIRDS), **options)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown class 'auk'. Known: gull, wren"):
        mine_cliques(incidence_of(BIRDS), common=["auk"])
    with pytest.raises(UnknownNameError, match=r"unknown engine 'gpu'. Known: auto, numba, numpy"):
        mine_cliques(incidence_of(BIRDS), engine="gpu")  # type: ignore[arg-type]


def test_small_data_takes_the_path_without_a_compiler() -> None:
    demo, larger = random_incidence(8000, 18, 2, 0.3), random_incidence(2000, 60, 2, 0.7)
    assert choose_engine(demo, 4, numba_ready=False) == "numpy"
    assert choose_engine(demo, 4, numba_ready=True) == "numba"
    assert choose_engine(incidence_of(BIRDS), 4, numba_ready=True) == "numpy"
    assert choose_engine(larger, 6, numba_ready=False) == "numba"
    script = (
        "import sys\n"
        "from cobalance.counting.incidence import build_incidence\n"
        "from cobalance.counting.cliques import mine_cliques\n"
        "mine_cliques(build_incidence([0, 0], [0, 1], [0], ['a', 'b'], ['y']))\n"
        "print([name for name in sys.modules if name.startswith(('numba', 'llvmlite'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_compiling_without_a_folder_for_the_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def njit(nogil: bool, cache: bool = False) -> Callable[[Any], Any]:
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    assert compile_cached(len) is len
    assert asked == [True, False]


def test_stored_code_is_for_these_very_sources() -> None:
    made_with: list[str] = []

    def factory(sources: str) -> Callable[[], int]:
        made_with.append(sources)

        def length() -> int:
            return len(sources)

        return length

    assert entry_point(factory)() == 64
    sources = [file.read_bytes() for file in sorted(Path(intrinsics.__file__).parent.glob("*.py"))]
    assert made_with == [hashlib.sha256(b"".join(sources)).hexdigest()]


def test_threads_share_one_queue_and_pass_errors_on() -> None:
    assert Counter(run_shared(3, lambda n: n % 4, range(40))) == dict.fromkeys(range(4), 10)
    with pytest.raises(ZeroDivisionError):
        list(run_shared(2, lambda n: 1 // n, [1, 0, 1]))
    endless = run_shared(2, abs, itertools.repeat(1, 10**5))
    assert next(endless) == 1
    endless.close()
