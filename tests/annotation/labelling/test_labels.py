import numpy as np
import pytest

from annotation.labelling.labels import present
from annotation.labelling.settings import LabelledAttribute, LabelSettings


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
