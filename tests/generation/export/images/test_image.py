"""Real files of another size than the dataset's: another image's, unless it is turned."""

from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from PIL import ExifTags, Image

from cobalance.generation.export import ExportError, ExportOptions, export
from tests.generation.export.conftest import REFERRING, SIZE, picture


def turned(orientation, size):
    """A JPEG file of this size, to be shown turned."""
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    out = BytesIO()
    Image.new("RGB", size, "red").save(out, "JPEG", exif=exif)
    return out.getvalue()


@pytest.mark.parametrize(
    "content", [picture(5, size=(32, 24)), picture(5, size=SIZE[::-1]), turned(3, SIZE[::-1])]
)
def test_another_image_s_file_is_an_error(content, image_format, sample, tmp_path):
    sample.stores.real["5.png"] = content
    with Image.open(BytesIO(content)) as image:
        stored = "\u00d7".join(map(str, image.size))
    said = rf"'long .*has {stored} pixels in its file and 16\u00d712 in the dataset.*skip_missing"
    with pytest.raises(ExportError, match=said) as caught:
        export(sample.dataset, image_format, tmp_path / "out")
    assert "ingest the dataset again" in str(caught.value)
    assert "reference" not in str(caught.value)
    report = export(
        sample.dataset, image_format, tmp_path / "out", ExportOptions(skip_missing=True)
    )
    assert report.counts["real images left out"] == 1
    assert report.counts["real images"] == 9


@pytest.mark.parametrize("orientation", [1, 3, 5, 6, 7, 8])
@pytest.mark.parametrize("shown", [False, True])
def test_a_turned_one_s_is_none(orientation, shown, sample, tmp_path):
    size = SIZE[::-1] if shown and orientation > 4 else SIZE
    sample.stores.real["5.png"] = turned(orientation, size)
    export(sample.dataset, "folder", tmp_path / "out")
    table = pd.read_parquet(tmp_path / "out" / "manifest.parquet").set_index("original_uri")
    assert table.loc["5.png", ["width", "height"]].tolist() == list(SIZE)


@pytest.mark.parametrize("name", REFERRING)
def test_what_is_not_copied_is_not_measured(name, sample, tmp_path):
    sample.stores.real["5.png"] = picture(5, size=(32, 24))
    export(sample.dataset, name, tmp_path / "out", ExportOptions(reference=True))
    assert sample.stores.reads == 0


def test_a_size_that_nobody_knows_is_the_file_s(sample, tmp_path):
    sample.stores.real["5.png"] = picture(5, size=(32, 24))
    unknown = sample.dataset.real.assign(width_px=None, height_px=None)
    export(replace(sample.dataset, real=unknown), "folder", tmp_path / "out")
    table = pd.read_parquet(tmp_path / "out" / "manifest.parquet").set_index("original_uri")
    assert table.loc["5.png", ["width", "height"]].tolist() == [32, 24]
