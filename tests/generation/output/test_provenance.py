"""What an image's file says of where it comes from: XMP that any reader of XMP reads."""

import io
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image

from generation.filters.filter import Judgement
from generation.image_request import GeneratedImage, ImageRequest, SourceImage
from generation.output.manifest import manifest_frame
from generation.output.provenance import image_file, judged, mask_file, read_provenance, row_of
from tests.conftest import HOSTILE

IPTC = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}DigitalSourceType"
ABOUT = {
    "backend": "inpaint",
    "digital_source_type": "http://cv.iptc.org/newscodes/digitalsourcetype/"
    "compositeWithTrainedAlgorithmicMedia",
    "model": "owner/model",
    "revision": "abc",
    "weights_sha256": "0" * 64,
    "settings": {"steps": 3, "dtype": "auto"},
    "pipeline": "AnyPipeline",
    "scheduler_config": {"beta_end": 0.012},
    "dtype": "float16",
    "filters": {"clip": {"model": "owner/clip", "weights_sha256": "1" * 64}},
    "software": {"torch": "2"},
}


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=np.uint8)


@pytest.fixture
def request_(pixels):
    mask = np.zeros((24, 32), dtype=bool)
    mask[4:9, 5:20] = True
    source = SourceImage(HOSTILE[1], "pictures/" + HOSTILE[3], pixels, mask)
    return ImageRequest("job/000001/000002", HOSTILE[0], HOSTILE, "a & b < c", 2**63 - 1, source)


@pytest.fixture
def row(request_):
    return row_of(
        request_, job="job", chunk="000-000000", chunk_items=[request_.id, "x"], backend=ABOUT
    )


def xmp_of(data):
    with Image.open(io.BytesIO(data)) as image:
        found = image.info.get("XML:com.adobe.xmp") or image.info["xmp"]
    text = found.decode() if isinstance(found, bytes) else found
    return text[text.index("<x:xmpmeta") : text.index("</x:xmpmeta>") + len("</x:xmpmeta>")]


@pytest.mark.parametrize("form", ["png", "jpeg"])
def test_a_file_says_where_it_comes_from(row, pixels, form):
    data = image_file(pixels, row, form)
    said = read_provenance(data)
    assert said == {name: row[name] for name in said}
    assert {"prompt", "seed", "model", "revision", "weights_sha256", "mask_sha256"} <= set(said)
    assert (said["query"], said["index"], said["seed"]) == (1, 2, 2**63 - 1)
    assert tuple(said["concepts"]) == HOSTILE
    root = ElementTree.fromstring(xmp_of(data))
    (description,) = root.iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}Description")
    assert description.attrib[IPTC] == ABOUT["digital_source_type"]
    assert image_file(pixels, row, form) == data


def test_settings_are_all_that_decides_pixels_and_verdicts(row):
    assert json.loads(row["settings"]) == {
        "steps": 3,
        "dtype": "float16",
        "pipeline": "AnyPipeline",
        "scheduler_config": {"beta_end": 0.012},
        "filters": {"clip": {"model": "owner/clip", "weights_sha256": "1" * 64}},
    }


@pytest.mark.parametrize("name", ["\ufffe", "\x0b", "\ud800", "]]>"])
def test_names_that_xml_has_no_characters_for(row, pixels, name):
    data = image_file(pixels, row | {"class": name}, "png")
    assert ElementTree.fromstring(xmp_of(data)) is not None
    assert read_provenance(data)["class"] == name


def test_a_png_keeps_every_pixel(row, pixels):
    with Image.open(io.BytesIO(image_file(pixels, row, "png"))) as image:
        np.testing.assert_array_equal(np.asarray(image), pixels)


def test_a_mask_s_file_has_its_pixels(request_):
    with Image.open(io.BytesIO(mask_file(request_.source.mask))) as image:
        np.testing.assert_array_equal(np.asarray(image), request_.source.mask)


def test_accepted_by_all_or_rejected_with_every_reason(row, pixels):
    yes, no = Judgement(0.7, True), Judgement(0.1, False, "No cow.", {"cosine": 0.04})
    made = GeneratedImage(pixels, details={"digital_source_type": "other", "placed_at": [1, 2]})
    assert judged(row, made, {"a": yes})["verdict"] == "accepted"
    found = judged(row, made, {"a": yes, "b": no, "c": Judgement(0, False, "No road.")})
    assert (found["verdict"], found["reason"]) == ("rejected", "No cow. No road.")
    assert '"cosine": 0.04' in found["scores"]
    assert found["digital_source_type"] == "other"
    assert "placed_at" in found["settings"]
    assert (found["width_px"], found["height_px"]) == (32, 24)
    assert manifest_frame([found])["candidate"].tolist() == [row["candidate"]]


def test_a_picture_without_provenance(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    assert read_provenance(out.getvalue()) is None
