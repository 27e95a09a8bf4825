import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.labelling.labels import examples, image_level, present
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelledAttribute, LabelSettings
from cobalance.vision.stored.output_folder import OutputFolder


@pytest.mark.parametrize("lowest", [0.1, 0.3, 0.7, 0.9])
def test_a_score_of_exactly_the_threshold_counts(lowest):
    attributes = [LabelledAttribute(category="", concept=name, caption=name) for name in "ab"]
    settings = LabelSettings(
        annotator="x",
        attributes=attributes,
        rule="threshold",
        threshold=lowest,
        thresholds={"b": lowest},
    )
    at = np.float32(lowest)
    scores = np.array([[at, at], [np.nextafter(at, np.float32(0))] * 2, [np.nan, 1]], np.float32)
    assert present(scores, settings).tolist() == [[True, True], [False, False], [False, True]]


@pytest.mark.parametrize("has_boxes", [False, True])
def test_examples_have_the_box_of_their_attribute(tmp_path, has_boxes):
    attributes = [LabelledAttribute(category="", concept=name, caption=name) for name in "ab"]
    settings = LabelSettings(
        annotator="x", attributes=attributes, rule="threshold", images=5, chunk_images=3
    )
    scores = np.array([[0, 0.4], [0, 0.9], [0, np.nan], [0, 0.1], [0, 0.9]], np.float32)
    boxes = np.arange(40, dtype=np.float32).reshape(5, 2, 4)
    files = ScoreFiles(OutputFolder(str(tmp_path)), "run")
    for chunk, part in enumerate((slice(0, 3), slice(3, 5))):
        written = Scores(scores[part], boxes[part] if has_boxes else None)
        files.write_scores(chunk, ["p", "q", "r", "s", "t"][part], written)
    found = list(examples(files, settings, 1, 1))
    assert [one[:2] for one in found] == [("high", "q"), ("middling", "t"), ("low", "s")]
    assert [one.score for one in found] == pytest.approx([0.9, 0.9, 0.1])
    drawn = boxes[[1, 4, 3], 1] if has_boxes else np.full((3, 4), np.nan)
    np.testing.assert_array_equal([one[3:] for one in found], drawn)
    assert not list(examples(files, settings.model_copy(update={"images": 0}), 1))


SCORES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(0, 5), st.integers(0, 4)),
    elements=st.sampled_from([0.1, 0.5, 0.5, 0.9, np.nan]),
)


def test_the_examples_of_the_paper_rule():
    scores = np.array([[0.2, 0.6, 0.5]])
    assert image_level(scores, np.array([0.55])).tolist() == [[False, True, False]]
    assert image_level(scores, np.array([0.7])).tolist() == [[False, False, False]]
    assert image_level(scores, np.array([0.45]), multi=True).tolist() == [[False, True, True]]


@given(SCORES, st.booleans())
def test_image_level_equals_brute_force(scores, multi):
    base = np.full(len(scores), 0.3)
    found = image_level(scores, base, multi=multi)
    for row, shown in zip(scores, found, strict=True):
        above = [not np.isnan(s) and s > 0.3 for s in row]
        if not multi:
            known = [s for s in row if not np.isnan(s)]
            best = list(row).index(max(known)) if known else -1
            above = [a and i == best for i, a in enumerate(above)]
        assert shown.tolist() == above
