"""Images to score, from folders, exports and datasets, of every kind that files come in."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.base.errors import DataError, InputError, NotFoundError, OptionError
from cobalance.evaluation.metrics.images.distances import FewImagesWarning
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.training.data.images import LabelledImages
from cobalance.workflows.evaluate.image_sets import with_features, with_images
from cobalance.workflows.evaluate.score import score_tables


def no_dataset(name):
    raise NotFoundError("dataset", name)


def picture(at, size=(24, 20), mode="RGB"):
    channels = {"L": (), "RGB": (3,), "RGBA": (4,), "CMYK": (4,)}[mode]
    pixels = np.random.default_rng(at).integers(0, 256, (*size[::-1], *channels), dtype=np.uint8)
    return Image.frombytes(mode, size, pixels.tobytes())


@pytest.fixture
def folder(tmp_path):
    """Images of every mode and of odd sizes, flat and in a subfolder, with other files."""
    made = tmp_path / "made"
    (made / "sub").mkdir(parents=True)
    for at, (name, mode, size) in enumerate(
        [
            ("a.png", "RGB", (24, 20)),
            ("grey.png", "L", (24, 20)),
            ("dot.png", "RGB", (1, 1)),
            ("sub/clear.PNG", "RGBA", (9, 30)),
            ("sub/print.jpg", "CMYK", (16, 16)),
            ("sub/strip.webp", "RGB", (40, 3)),
        ]
    ):
        picture(at, size, mode).save(made / name)
    (made / "notes.txt").write_text("not an image", "utf-8")
    return made


def scored(images, real, metrics, features="pixels", **options):
    inputs, others = with_images(Inputs(), str(images), str(real), no_dataset)
    return score_tables(with_features(inputs, others, metrics, features, options), metrics).frame


def test_a_folder_equals_itself(folder):
    with pytest.warns(FewImagesWarning, match="6 images"):
        scores = scored(folder, folder, ["frechet", "cmmd"])
    assert scores["value"].to_numpy() == pytest.approx(0, abs=1e-9)
    assert scores["n"].tolist() == [6, 6]


def test_files_of_any_mode_are_read_as_people_see_them(folder):
    inputs, real = with_images(Inputs(), str(folder), None, no_dataset)
    assert real is None
    assert inputs.images.names == [
        "a.png", "dot.png", "grey.png", "sub/clear.PNG", "sub/print.jpg", "sub/strip.webp"
    ]  # fmt: skip
    for pixels in inputs.images.read(range(6)):
        assert pixels.shape[2] == 3
        assert pixels.dtype == np.uint8
    assert inputs.images.read([2])[0] == pytest.approx(
        np.asarray(picture(1, mode="L"))[..., np.newaxis].repeat(3, axis=2)
    )


def test_what_cannot_be_scored(folder, tmp_path):
    one, empty, cut = (tmp_path / name for name in ("one", "empty", "cut"))
    for new in (one, empty, cut):
        new.mkdir()
    picture(0).save(one / "x.png")
    content = io.BytesIO()
    picture(0).save(content, "JPEG")
    (cut / "half.jpg").write_bytes(content.getvalue()[:400])
    for images, real, metric, kind, said in (
        (empty, folder, "cmmd", InputError, "it has no images"),
        (folder / "a.png", folder, "cmmd", InputError, "it is a file"),
        (tmp_path / "gone", folder, "cmmd", InputError, "there is no such folder"),
        ("gone", folder, "cmmd", NotFoundError, "no dataset 'gone'"),
        (" ", folder, "cmmd", OptionError, "The place of images is empty"),
        (cut, folder, "cmmd", InputError, "half.jpg: The image file is damaged"),
        (one, folder, "frechet", DataError, "each of 2 images or more"),
    ):
        with pytest.raises(kind, match=said):
            scored(images, real, [metric])
    assert scored(one, folder, ["cmmd"])["n"].item() == 1
    with pytest.raises(OptionError, match="it is not clear which"):
        scored(folder, folder, ["cmmd", "kernel"], None)
    with pytest.raises(OptionError, match="inception need weights"):
        scored(folder, folder, ["kernel"], None)


def test_exports_and_datasets_give_synthetic_images_against_real_ones(folder, tmp_path):
    names = ["a.png", "grey.png", "sub/print.jpg", "sub/gone.jpg"]
    table = pd.DataFrame({"image_id": names, "label": "cat", "uri": names, "split": None})
    table["concepts"] = [[] for _ in names]
    table = table.assign(source=None, key=None, synthetic=[False, True, True, False])
    table["captions"] = [["a cat"], ["a grey cat", "grey"], [], None]
    table.to_parquet(folder / "manifest.parquet")
    inputs, real = with_images(Inputs(), str(folder), str(folder), no_dataset)
    assert list(inputs.images.names) == names[1:3]
    assert list(real.names) == [names[0], names[3]]
    assert inputs.need("captions").to_numpy().tolist() == [
        ["grey.png", "a grey cat"],
        ["grey.png", "grey"],
    ]
    with pytest.raises(InputError, match=r"sub/gone\.jpg.*cannot be read"):
        with_features(inputs, real, ["cmmd"], "pixels")

    def dataset(name):
        frame = table.rename(columns={"image_id": "image", "label": "class_name"})
        frame = frame[frame["synthetic"] == (name == "made")].reset_index(drop=True)
        return LabelledImages(name, frame, lambda uri, synthetic: (folder / uri).read_bytes())

    inputs, real = with_images(Inputs(), "made", "photos", dataset)
    assert list(inputs.images.names) == names[1:3]
    assert list(real.names) == [names[0], names[3]]
    with pytest.raises(DataError, match="'made' has no real images"):
        with_images(Inputs(), "photos", "made", dataset)
