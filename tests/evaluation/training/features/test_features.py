"""Features by name: pixels against a brute force, and tiny random models."""

import numpy as np
import pytest

from evaluation.training.features import FEATURES
from evaluation.training.features.pixels import scale_down
from evaluation.training.method import Run
from evaluation.training.run import Recipe, train_run
from tests.evaluation.training.images import examples


def test_images_of_any_size_are_scaled_down_by_the_mean():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (12, 24, 3), dtype=np.uint8)
    expected = [
        [image[3 * i : 3 * i + 3, 6 * j : 6 * j + 6].mean((0, 1)) for j in range(4)]
        for i in range(4)
    ]
    assert scale_down(image, 4) == pytest.approx(np.array(expected))
    odd = scale_down(rng.integers(0, 256, (7, 31, 3), dtype=np.uint8), 5)
    assert odd.shape == (5, 5, 3)
    flat = scale_down(np.full((3, 5, 3), 77, np.uint8), 16)
    assert flat == pytest.approx(77)


def test_components_are_whitened_and_no_more_than_the_images_allow():
    images = examples((10, 2))
    features, values = FEATURES.open("pixels", {"side_px": 4, "components": 60}).fit(images, 0)
    assert features.read(images) == pytest.approx(values)
    assert values.shape == (24, 23)
    assert np.cov(values.T) == pytest.approx(np.eye(23), abs=1e-6)
    assert features.read(images.take(np.array([5, 5]))) == pytest.approx(values[[5, 5]])


@pytest.mark.parametrize("name", ["dinov2", "clip"])
def test_features_of_models(name, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from tests.tiny.vision import save_clip, save_dinov2

    model = {"dinov2": save_dinov2, "clip": save_clip}[name](tmp_path)
    options = {"model": str(model), "batch_size": 5}
    images = examples((6, 2), side=16)
    features, values = FEATURES.open(name, options).fit(images, 0)
    assert len(values) == 16
    assert values[3:4] == pytest.approx(features.read(images.take(np.array([3]))), abs=1e-4)
    if name == "clip":
        assert np.linalg.norm(values, axis=1) == pytest.approx(1)
    recipe = Recipe(learner_options={"features": name, "features_options": options})
    found = train_run(recipe, Run(0), images, None, images).predictions
    assert (found["predicted"] == found["class_name"]).mean() > 0.5
