"""Features by name: pixels against a brute force, and tiny random models."""

import hashlib
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from cobalance.base.errors import CobalanceError
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.features import FEATURES
from cobalance.evaluation.training.features.pixels import scale_down
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.run import Recipe, train_run
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


@pytest.mark.parametrize("name", ["dinov2", "clip", "clip_336"])
def test_features_of_models(name, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from tests.tiny.vision import save_clip, save_dinov2

    model = (save_dinov2 if name == "dinov2" else save_clip)(tmp_path)
    options = {"model": str(model), "batch_size": 5}
    images = examples((6, 2), side=16)
    features, values = FEATURES.open(name, options).fit(images, 0)
    assert len(values) == 16
    assert values[3:4] == pytest.approx(features.read(images.take(np.array([3]))), abs=1e-4)
    if name != "dinov2":
        assert np.linalg.norm(values, axis=1) == pytest.approx(1)
    recipe = Recipe(learner_options={"features": name, "features_options": options})
    found = train_run(recipe, Run(0), images, None, images).predictions
    assert (found["predicted"] == found["class_name"]).mean() > 0.5


def test_cmmds_clip_sees_all_of_an_image(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from tests.tiny.vision import save_clip

    save_clip(tmp_path)
    wide = np.full((20, 60, 3), 128, np.uint8)
    edge = wide.copy()
    edge[:, :4] = 255  # cut off where images are cropped to their middle
    both = pictures(wide, edge)
    whole, cropped = (
        FEATURES.open(name, {"model": str(tmp_path)}).read(both) for name in ("clip_336", "clip")
    )
    assert np.abs(whole[0] - whole[1]).max() > 1e-4
    assert cropped[0] == pytest.approx(cropped[1], abs=1e-6)


@pytest.mark.parametrize("name", ["dinov2", "clip", "clip_336"])
@pytest.mark.parametrize("size", [(1, 1), (3, 40), (40, 3), (1, 300)])
def test_images_of_a_few_pixels_have_features(name, size, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from tests.tiny.vision import save_clip, save_dinov2

    (save_dinov2 if name == "dinov2" else save_clip)(tmp_path)
    colour = np.array([250, 120, 10], np.uint8)
    small, large = (np.broadcast_to(colour, (*shape, 3)).copy() for shape in (size, (32, 32)))
    found = FEATURES.open(name, {"model": str(tmp_path)}).read(pictures(small, large))
    assert found[0] == pytest.approx(found[1], abs=1e-4)


@pytest.fixture(scope="module")
def inception(tmp_path_factory):
    """Random weights of the network, as safetensors and as torch saves them."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from safetensors.torch import save_file
    from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3

    folder = tmp_path_factory.mktemp("inception")
    torch.save({}, folder / "none.pth")
    torch.manual_seed(0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FeatureExtractorInceptionV3, "load_state_dict", lambda self, values: None)
        network = FeatureExtractorInceptionV3("random", ["2048"], folder / "none.pth")
    save_file(network.state_dict(), folder / "weights.safetensors")
    return folder / "weights.safetensors", network


def test_inception_takes_weights_by_path_and_images_of_any_size(inception, tmp_path):
    import torch

    weights, network = inception
    rng = np.random.default_rng(0)
    shapes = [(20, 30, 3), (20, 30, 3), (1, 1, 3), (9, 9, 3)]
    images = [rng.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]
    options = {"weights": str(weights), "device": "cpu", "batch_size": 3}
    found = FEATURES.open("inception", options).read(pictures(*images))
    for row, image in zip(found, images, strict=True):
        with torch.inference_mode():
            expected = network(torch.from_numpy(image).permute(2, 0, 1)[None])[0][0]
        assert row == pytest.approx(expected.numpy(), abs=1e-5)
    torch.save({"conv.weight": torch.zeros(1)}, tmp_path / "other.pth")
    digest = hashlib.sha256((tmp_path / "other.pth").read_bytes()).hexdigest()
    for given, said in (
        ({}, "inception need weights, and download none"),
        ({"weights": "nowhere.pth"}, "no such file"),
        ({"weights": str(tmp_path / "other.pth")}, "have the SHA-256"),
        ({"weights": str(tmp_path / "other.pth"), "sha256": digest}, "do not fit the network"),
    ):
        with pytest.raises(CobalanceError, match=said):
            FEATURES.open("inception", given)


def pictures(*images):
    none = np.full(len(images), -1)
    return Examples(
        [str(at) for at in range(len(images))], none * 0, none, none, ("",),
        lambda rows: [images[row] for row in rows],
    )  # fmt: skip


def test_each_image_goes_through_a_model_once(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed")
    from tests.tiny.vision import save_dinov2

    options = {"model": str(save_dinov2(tmp_path / "a")), "batch_size": 5}
    plain = FEATURES.open("dinov2", options)
    seen = []
    compute = type(plain.vision).pixels

    def count(vision, pictures):
        seen.append(len(pictures))
        return compute(vision, pictures)

    monkeypatch.setattr(type(plain.vision), "pixels", count)
    images = examples((6, 2), side=16)
    cached = plain.with_cache(tmp_path / "cache")
    first = cached.read(images)
    n = len(images)
    assert (sum(seen), len(first)) == (n, n)
    again = FEATURES.open("dinov2", options).with_cache(tmp_path / "cache")
    np.testing.assert_array_equal(again.read(images), first)
    np.testing.assert_array_equal(again.read(images.take(np.array([3, 3]))), first[[3, 3]])
    assert sum(seen) == n
    (file,) = (tmp_path / "cache").iterdir()
    assert (file.stat().st_mode & 0o77, file.parent.stat().st_mode & 0o77) == (0, 0)

    other = {"model": str(save_dinov2(tmp_path / "b", seed=1)), "batch_size": 5}
    assert (
        np.abs(
            FEATURES.open("dinov2", other).with_cache(tmp_path / "cache").read(images) - first
        ).max()
        > 1e-3
    )
    assert sum(seen) == 2 * n

    # What is damaged is computed again.
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE features SET found = zeroblob(length(found)) WHERE rowid <= 2")
    assert cached.read(images) == pytest.approx(first, abs=1e-5)
    assert sum(seen) == 2 * n + 2
    file.write_bytes(b"no database")
    assert cached.read(images) == pytest.approx(first, abs=1e-5)
    recipe = Recipe(learner_options={"features": "dinov2", "features_options": options})
    seen.clear()
    for seed in (0, 1):
        train_run(recipe, Run(seed, cache=tmp_path / "runs"), images, None, images)
    assert sum(seen) == n
