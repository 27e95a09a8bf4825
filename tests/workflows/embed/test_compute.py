"""Features of plugins, computed by a worker."""

from dataclasses import dataclass

import numpy as np
import pytest

from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.evaluation.training.features.features import Features
from cobalance.workflows.embed import compute
from tests.evaluation.training.images import examples


class Brightness(Features):
    """Mean brightness, of which nothing is learned."""

    def read(self, images: Examples) -> Floats:
        return np.array([[image.mean()] for image in images.read(np.arange(len(images)))])


@dataclass(frozen=True)
class Contrast(Brightness):
    """Brightness less that of the images it was fitted to."""

    mean: float = 0.0
    seen: int = 0

    def fit(self, training: Examples, seed: int) -> tuple["Contrast", Floats]:
        values = super().read(training)
        return Contrast(float(values.mean()), len(training)), values - values.mean()

    def read(self, images: Examples) -> Floats:
        return super().read(images) - self.mean


def test_features_that_override_fit_are_fitted_to_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    images = examples((9, 2))
    fitted = compute.fit_to_sample(Contrast(), images)
    assert fitted.read(images).mean() == pytest.approx(0)
    monkeypatch.setattr(compute, "_LEARNED", 10)
    sampled = compute.fit_to_sample(Contrast(), images)
    assert isinstance(sampled, Contrast)
    assert sampled.seen == 8
    plain = Brightness()
    assert compute.fit_to_sample(plain, images) is plain
