import numpy as np
import pytest

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.annotation.annotators.linear_probe import fit_linear_probe, load_linear_probe
from cobalance.base.errors import DataError

TEXTS = ("a red photo", "a bright photo {x}")


def picture(seed):
    """Pixels of any size that are red or blue, bright or dark; and which."""
    rng = np.random.default_rng(seed)
    red, bright = rng.integers(2, size=2).astype(bool)
    pixels = rng.integers(0, 60, (*rng.integers(1, 40, 2), 3))
    pixels[..., 0 if red else 2] += 60
    return (pixels + (120 if bright else 0)).astype(np.uint8), (red, bright)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    images, shows = zip(*map(picture, range(60)), strict=True)
    path = tmp_path_factory.mktemp("probe") / "probe.npz"
    fit_linear_probe(images, np.array(shows), TEXTS).save(path)
    return path


def test_a_saved_probe_knows_what_it_was_trained_with_and_nothing_else(saved):
    images, shows = zip(*map(picture, range(100, 140)), strict=True)
    annotator = ANNOTATORS.open("linear-probe", {"model": str(saved)})
    texts = [TEXTS[1], "a dog", TEXTS[0]]
    scores = annotator.score(images, texts).matrix
    assert np.isnan(scores[:, 1]).all()
    assert ((scores[:, [2, 0]] >= 0.5) == np.array(shows)).mean() > 0.95
    assert ((scores[:, [0, 2]] >= 0) & (scores[:, [0, 2]] <= 1)).all()
    alone = [annotator.score([image], texts).matrix[0] for image in images]
    np.testing.assert_array_equal(scores, alone)
    mentions = annotator.annotate(images[:5], texts)
    found = {(at, one.concept) for at, of in enumerate(mentions) for one in of}
    assert found == {(at, texts[k]) for at in range(5) for k in (0, 2) if scores[at, k] >= 0.5}
    assert annotator.score([], texts).matrix.shape == (0, 3)
    assert len(annotator.describe()["weights_sha256"]) == 64


def test_a_text_needs_images_with_and_without_it():
    images = [picture(at)[0] for at in range(3)]
    with pytest.raises(DataError, match="3 show 'x'"):
        fit_linear_probe(images, np.ones((3, 1), bool), ["x"])


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 no zip"])
def test_a_damaged_file_is_refused(tmp_path, content):
    path = tmp_path / "probe.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        load_linear_probe(path)


def test_pickles_and_other_shapes_are_refused(tmp_path):
    path = tmp_path / "probe.npz"
    arrays = {"side_px": np.array(2), "weights": np.zeros((1, 3)), "bias": np.zeros(1)}
    np.savez(path, texts=np.array(["a"]), **arrays)
    with pytest.raises(DataError, match="another shape"):
        load_linear_probe(path)
    np.savez(path, texts=np.array(["a", None], dtype=object), **arrays)
    with pytest.raises(DataError, match="cannot be read"):
        load_linear_probe(path)
