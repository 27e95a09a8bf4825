import numpy as np
import pytest

from cobalance.annotation.measuring.matching import TruthAttribute, match_concepts, match_images
from cobalance.annotation.measuring.truth import read_mapping, read_truth
from cobalance.base.errors import InputError


def test_celebas_list_has_ones_and_their_opposites(tmp_path):
    path = tmp_path / "list_attr_celeba.txt"
    path.write_text("2\nNo_Beard Male\n000001.jpg -1  1\n000002.jpg  1 -1\n")
    shows = read_truth(path).shows
    assert shows.to_dict("index") == {
        "000001.jpg": {"No_Beard": 0, "Male": 1},
        "000002.jpg": {"No_Beard": 1, "Male": 0},
    }
    assert match_concepts(["beard", "male"], shows.columns) == {
        "beard": TruthAttribute("No_Beard", inverted=True),
        "male": TruthAttribute("Male"),
    }


def test_cubs_rows_that_are_not_visible_are_left_out(tmp_path):
    folder = tmp_path / "CUB_200_2011" / "attributes"
    folder.mkdir(parents=True)
    (tmp_path / "attributes.txt").write_text("1 has_size::small\n2 has_eye_color::blue\n")
    (folder.parent / "images.txt").write_text("1 001.Auk/a.jpg\n2 001.Auk/b.jpg\n")
    path = folder / "image_attribute_labels.txt"
    path.write_text("1 1 1 3 12.5\n1 2 0 1 2.0\n2 1 0 4 5 0\n2 2 1 2 1.0\n")  # a sixth field
    truth = read_truth(path)
    assert truth.left_out == {"not visible": 1}
    assert truth.shows.index.tolist() == ["001.Auk/a.jpg", "001.Auk/b.jpg"]
    assert truth.shows.columns.tolist() == ["has_size::small", "has_eye_color::blue"]
    np.testing.assert_array_equal(truth.shows.to_numpy(), [[1, np.nan], [0, 1]])
    assert match_images(["x", "y"], ["images/001.Auk/b.jpg", None], truth.shows.index) == [1, None]


def test_a_table_has_ones_zeros_and_gaps(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeffimage,sky\na,1\nb,-1\nc,\n", encoding="utf-8")
    values = read_truth(path).shows["sky"]
    assert values.index.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(values, [1, 0, np.nan])
    path.write_text("image,sky\na,maybe\n")
    with pytest.raises(InputError, match="'maybe' for 'sky'"):
        read_truth(path)
    path.write_text("image,sky\na,1\na,0\n")
    with pytest.raises(InputError, match="twice"):
        read_truth(path)
    path.write_text("1 1 1 3 1.0\n1 2 x\n")
    with pytest.raises(InputError, match="line 2"):
        read_truth(path)


def test_a_mapping_wins(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("concept,truth,inverted\nbeard,Goatee,\nshaven,No_Beard,0\nhairy,Bald,yes\n")
    mapping = read_mapping(path)
    found = match_concepts(["beard", "shaven", "hairy", "x"], ["No_Beard", "Bald"], mapping)
    assert found == {
        "beard": TruthAttribute("Goatee"),
        "shaven": TruthAttribute("No_Beard"),
        "hairy": TruthAttribute("Bald", inverted=True),
    }
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="concept and truth"):
        read_mapping(path)
    for text, problem in {
        b"concept,truth\n": "has no rows",
        b"concept,truth\r\nsky,a\r\n sky,b\r\n": "line 3: has 'sky' a second time",
        b"concept,truth\nsky,\xff\n": "line 2: the byte 0xff is not UTF-8",
    }.items():
        path.write_bytes(text)
        with pytest.raises(InputError, match=problem):
            read_mapping(path)


def test_a_file_name_that_two_images_have_matches_none():
    known = ["a/1.jpg", "b/1.jpg", "c/2.png"]
    assert match_images(["1.jpg", "2", "b/1.jpg"], [None] * 3, known) == [None, 2, 1]
