"""Presets: their learners take their options."""

from evaluation.training.learners import LEARNERS
from evaluation.training.presets import PRESETS


def test_presets_are_those_of_the_papers_and_of_a_laptop():
    assert set(PRESETS) == {"small", "small-network", "conbias", "resampled", "whac-a-mole", "gpu"}
    assert [PRESETS[name].seeds for name in ("conbias", "resampled")] == [3, 5]
    assert PRESETS["resampled"].labels == "concepts"
    for name in PRESETS:
        preset = PRESETS[name]
        if preset.learner in LEARNERS:
            LEARNERS.check(preset.learner, preset.learner_options)
