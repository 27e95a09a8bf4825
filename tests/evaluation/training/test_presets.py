"""Presets: their learners take their options."""

from cobalance.evaluation.training.learners import LEARNERS
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.presets import PRESETS


def test_presets_are_those_of_the_papers_and_of_a_laptop():
    of_papers = {"conbias", "pinpoint", "resampled", "whac-a-mole"}
    assert set(PRESETS) == {"small", "small-network", "gpu"} | of_papers
    assert [PRESETS[name].seeds for name in ("conbias", "resampled")] == [3, 5]
    assert PRESETS["resampled"].labels == "concepts"
    for name in PRESETS:
        preset = PRESETS[name]
        if preset.learner in LEARNERS:
            LEARNERS.check(preset.learner, preset.learner_options)
        for method, options in preset.method_options.items():
            METHODS.check(method, options)
