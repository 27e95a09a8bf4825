import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import InputError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.metrics.retrieval import retrieval_ranks, retrieval_recall

SOURCES = ("texts", "embeddings")

numbers = st.one_of(
    st.integers(-9, 9).map(float),
    st.sampled_from([0.1, -0.1, 0.2, 0.3, 1 / 3, 1e-9, 1e160, -1e-170, 2.0**70]),
)


def tables(of, dimensions):
    return st.lists(st.tuples(*[of] * dimensions), min_size=1, max_size=6)


def exact_ranks(texts, images, relevant):
    """Ranks by fractions of Python's integers: the cosine's square with its sign."""

    def cosine(text, image):
        product = sum(
            Fraction(one) * Fraction(other) for one, other in zip(text, image, strict=True)
        )
        squares = [sum(Fraction(number) ** 2 for number in vector) or 1 for vector in (text, image)]
        return product * abs(product) / squares[0] / squares[1]

    ranks = []
    for text, right in zip(texts, relevant, strict=True):
        similar = [cosine(text, image) for image in images]
        best = max((s for s, r in zip(similar, right, strict=True) if r), default=None)
        wrong = [s for s, r in zip(similar, right, strict=True) if not r]
        ranks.append(1 + sum(best is None or s >= best for s in wrong))
    return ranks


@pytest.mark.parametrize("of", [st.integers(-3, 3).map(float), numbers], ids=["whole", "any"])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
@given(data=st.data())
def test_ranks_are_those_of_exact_fractions(of, dimensions, data):
    texts = data.draw(tables(of, dimensions))
    images = data.draw(tables(of, dimensions))
    row = st.lists(st.booleans(), min_size=len(images), max_size=len(images))
    relevant = data.draw(st.lists(row, min_size=len(texts), max_size=len(texts)))
    ranks = retrieval_ranks(np.array(texts), np.array(images), np.array(relevant))
    assert ranks.tolist() == exact_ranks(texts, images, relevant)


def test_vectors_that_differ_by_a_factor_tie():
    images = np.array([[1.0, 1, 0], [2, 2, 0], [3, 3, 0], [1, 0, 5], [0, 0, 0]])
    for text in np.array(list(itertools.product(range(4), repeat=3)), dtype=float):
        right = np.arange(5)
        of_each = retrieval_ranks(np.tile(text, (5, 1)), images, right)
        assert of_each.tolist() == exact_ranks([text] * 5, images, np.eye(5, dtype=bool))
        assert len(set(of_each[:3])) == 1


@pytest.mark.parametrize("factor", [1, 3, 1e-6])
def test_real_embeddings_and_their_near_duplicates_are_ranked_exactly(factor):
    """In single precision, as CLIP gives them, some closer than rounding can tell apart."""
    rng = np.random.default_rng(5)
    images = rng.normal(size=(40, 32))
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    images = images.astype(np.float32)
    images[10:20] = images[:10] * np.float32(factor)
    images[20:30] = np.nextafter(images[:10], np.float32(1))
    images[30:35] = images[:5]
    texts = np.r_[images, (images[:10] + 0.1 * rng.normal(size=(10, 32))).astype(np.float32)]
    right = np.r_[np.arange(40), np.arange(10)]
    expected = exact_ranks(texts.tolist(), images.tolist(), right[:, None] == np.arange(40))
    assert retrieval_ranks(texts, images, right).tolist() == expected


def test_whole_numbers_too_large_for_a_float_s_digits_are_ranked_exactly():
    rng = np.random.default_rng(7)
    images = rng.integers(-127, 128, size=(30, 16))
    images[10:20] = images[:10] * 3
    images[20:] = -images[:10]
    images *= 1_001
    right = np.arange(30)
    expected = exact_ranks(images.tolist(), images.tolist(), np.eye(30, dtype=bool))
    assert retrieval_ranks(images, images, right).tolist() == expected


def test_ties_count_against_the_text():
    same = np.ones((3, 4))
    assert retrieval_ranks(same, same, np.arange(3)).tolist() == [3, 3, 3]


def test_recall_by_group_from_embeddings():
    images = pd.DataFrame(np.eye(4)).assign(image=["a", "b", "c", "d"])
    texts = images.iloc[[0, 1, 2, 3]].assign(image=["a", "b", "d", "c"])  # the last two are swapped
    groups = pd.DataFrame({"image": list("abcd"), "person": ["m", "m", "w", "w"], "age": "old"})
    inputs = Inputs(texts=texts, embeddings=images, groups=groups)
    scores = METRICS.open("retrieval_recall", {"k": 1})(inputs)
    assert scores.set_index("group")["value"].to_dict() == {"": 0.5, "m": 1, "w": 0, "old": 0.5}
    assert set(scores["metric"]) == {"recall@1"}
    all_found = METRICS.open("retrieval_recall", {"k": 4})(inputs)
    assert (all_found["value"] == 1).all()


def test_recall_needs_the_images_of_texts():
    images = pd.DataFrame(np.eye(2)).assign(image=["a", "b"])
    inputs = Inputs(texts=images.assign(image=["a", "x"]), embeddings=images)
    with pytest.raises(InputError, match="names 1 image missing from embeddings: 'x'"):
        METRICS.open("retrieval_recall")(inputs)


def test_recall_without_texts_of_a_group():
    scores = retrieval_recall(np.array([1, 2]), pd.Series(["m", None], dtype=object))
    assert scores["n"].tolist() == [2, 1]


def test_texts_of_unknown_attribute_are_in_no_group_and_counted():
    images = pd.DataFrame(np.eye(6)).assign(image=list("abcdef"))
    people = ["m", "m", "w", None, "", "none"]
    groups = pd.DataFrame({"image": list("abcdef"), "person": people, "age": list("oyoyoy")})
    texts = images.assign(image=list("abdcef"))  # c and d are swapped
    inputs = Inputs(texts=texts, embeddings=images, groups=groups)
    scores = METRICS.open("retrieval_recall")(inputs)
    found = scores.set_index(["metric", "group"])[["value", "n"]].T.to_dict("list")
    assert found == {
        ("recall@1", ""): [pytest.approx(4 / 6), 6],
        ("recall@1", "m"): [1, 2],
        ("recall@1", "w"): [0, 1],
        ("recall@1", "o"): [pytest.approx(2 / 3), 3],
        ("recall@1", "y"): [pytest.approx(2 / 3), 3],
        ("texts_without_attribute", "person"): [3, 3],
    }


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("source", ["texts", "embeddings"])
def test_embeddings_that_are_not_finite_are_refused(source, value):
    there = {name: pd.DataFrame(np.eye(4)).assign(image=list("abcd")) for name in SOURCES}
    there[source].iloc[2, 1] = value
    with pytest.raises(InputError, match=f"{source}, row 3: the embedding is NaN or infinite"):
        METRICS.open("retrieval_recall")(Inputs(**there))


@pytest.mark.parametrize("dimensions", [3, 64, 129, 512])
@pytest.mark.parametrize("n", [51, 102, 1_025])
def test_the_twin_of_an_image_ties_with_it_wherever_both_are(n, dimensions):
    rng = np.random.default_rng(dimensions)
    images = rng.normal(size=(n, dimensions))
    images[[n // 3, -1]] = images[0]
    texts = images[0] + 1e-3 * rng.normal(size=(1_200, dimensions))  # more than a block
    texts[[5, 1_100]] = texts[0]
    found = retrieval_ranks(texts, images, np.zeros(len(texts), dtype=np.int64))
    assert found.min() >= 3
    images[[n // 3, -1]] *= -1
    alone = retrieval_ranks(texts, images, np.zeros(len(texts), dtype=np.int64))
    assert (found == alone + 2).all()


def test_ranks_of_texts_that_are_images_count_the_identical_images():
    rng = np.random.default_rng(0)
    distinct = rng.normal(size=(700, 64))
    which = rng.permutation(np.r_[np.arange(700), rng.integers(0, 350, 1_500)])
    images = distinct[which]
    copies = (which[:, None] == np.arange(700)).sum(axis=0)
    assert retrieval_ranks(images, images, np.arange(2_200)).tolist() == copies[which].tolist()
    every_copy_is_right = which[:, None] == which
    assert set(retrieval_ranks(images, images, every_copy_is_right)) == {1}
