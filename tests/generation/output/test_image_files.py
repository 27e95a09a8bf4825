"""Image files: provenance as XMP that any reader of XMP reads, and every pixel."""

import io

import numpy as np
import pytest
from PIL import Image

from cobalance.generation.output.image_files import image_file, mask_file
from tests.conftest import HOSTILE
from tests.support.provenance import read_provenance, xmp_of

IPTC = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}DigitalSourceType"


@pytest.mark.parametrize("form", ["png", "jpeg"])
def test_a_file_says_where_it_comes_from(row, pixels, form):
    data = image_file(pixels, row, form)
    said = read_provenance(data)
    assert said == {name: row[name] for name in said}
    assert {"prompt", "seed", "model", "revision", "weights_sha256", "mask_sha256"} <= set(said)
    assert (said["query"], said["index"], said["seed"]) == (1, 2, 2**63 - 1)
    assert tuple(said["concepts"]) == HOSTILE
    root = xmp_of(data)
    (description,) = root.iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}Description")
    assert description.attrib[IPTC] == row["digital_source_type"]
    assert image_file(pixels, row, form) == data


@pytest.mark.parametrize("name", ["\ufffe", "\x0b", "\ud800", "]]>"])
def test_names_that_xml_has_no_characters_for(row, pixels, name):
    data = image_file(pixels, row | {"class": name}, "png")
    assert read_provenance(data)["class"] == name


def test_a_png_keeps_every_pixel(row, pixels):
    with Image.open(io.BytesIO(image_file(pixels, row, "png"))) as image:
        np.testing.assert_array_equal(np.asarray(image), pixels)


def test_a_mask_s_file_has_its_pixels(request_):
    with Image.open(io.BytesIO(mask_file(request_.source.mask))) as image:
        np.testing.assert_array_equal(np.asarray(image), request_.source.mask)
