"""Text files of boxes: what their publishers' small print says."""

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions

CAR = "Car 0.00 1 -0.20 8.00 12.00 24.00 36.00 1.89 0.48 1.20 1.84 1.47 8.41 0.01\n"


def seen(annotations):
    """Objects of each image; what is said of them has tests of its own."""
    objects = {"Car", "car", "pedestrian", "sign"}
    return {one.id: sorted(objects.intersection(one.concepts)) for one in annotations.records()}


def written(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".txt").write_text(text)
    return folder


def test_kitti_lies_beside_many_other_text_files_and_has_images_of_nothing(tmp_path):
    calibrations = {f"calib__{number:06}": "P0: 7.2e+02 0.0\n" for number in range(60)}
    labels = {f"label_2__{number:06}": CAR * (number % 5 > 0) for number in range(60)}
    written(tmp_path, **calibrations, **labels)
    assert detect_format(tmp_path) == "kitti"
    found = seen(read_annotations(tmp_path))
    assert found == {f"{number:06}": ["Car"] * (number % 5 > 0) for number in range(60)}


def test_sequences_of_mot_are_videos_and_labels_txt_names_their_codes(tmp_path):
    written(
        tmp_path,
        **{
            "train__MOT17-02__gt__gt": "1,1,9,13,16,24,1,3,0.5\n"
            "2,1,9,13,16,24,1,-1,-1,-1\n4,1,9,13,16,24,1,1,1\n",
            "train__MOT17-04__gt__gt": "1,1,9,13,16,24,1,2,0.5\n",
            "train__MOT17-04__gt__labels": "cow\nsign\n",
            "train__MOT17-04__det__det": "1,-1,9,13,16,24,99,-1,-1,-1\n",
        },
    )
    found = read_annotations(tmp_path, ReadOptions(path_pattern="{cluster}/img1/*"))
    assert seen(found) == {
        "train/MOT17-02/img1/000001.jpg": ["car"],
        "train/MOT17-02/img1/000002.jpg": ["pedestrian"],
        "train/MOT17-02/img1/000003.jpg": [],
        "train/MOT17-02/img1/000004.jpg": ["pedestrian"],
        "train/MOT17-04/img1/000001.jpg": ["sign"],
    }
    assert set(found.images["split"]) == {"train"}
    assert found.images["cluster"].tolist() == ["MOT17-02"] * 4 + ["MOT17-04"]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("0001", CAR + "Car 0.00 1\n", "0001.txt"),
        ("0001", "8,12,16,24,1,4,0,0\n8,12,16,24,1,-2,0,0\n", "0001.txt"),
        ("0001", "8,12,16,24,1,4,0,0\n8,12,16,24,1,99,0,0\n", "0001.txt"),
        ("P0001", "gsd:0.1\n8 2 9 2 9 3 8 3 car 0\n8 2 9 2 9 3 car 0\n", "P0001.txt"),
        ("bbx_gt", "a/1.jpg\n3\n8 12 16 24 0 0 0 0 0 0 \n8 12 16 24 0 0 0 0 0 0 \n", "bbx_gt.txt"),
        ("gt", "1,1,9,13,16,24,1,1,1\n2,1,9,13,16,24,1,99,1\n", "frame 2"),
    ],
    ids=["kitti", "visdrone", "visdrone unknown", "dota", "wider-face", "mot"],
)
def test_a_line_that_is_cut_or_unknown_is_named(tmp_path, name, text, place):
    written(tmp_path, **{name: text})
    with pytest.raises(InputError, match=rf"{place}.*: (has|refers to|.* has \d of) "):
        read_annotations(tmp_path)


def test_a_label_file_that_is_wrong_can_be_left_out(tmp_path):
    written(tmp_path, label_2__1=CAR, label_2__2=CAR + "Car 0.00 1\n")
    found = read_annotations(tmp_path, ReadOptions(on_error="skip"))
    assert seen(found) == {"1": ["Car"]}
    assert len(found.skipped) == 1


def test_kitti_names_may_have_spaces_and_lines_a_score(tmp_path):
    sitting = CAR.replace("Car", "Person sitting").rstrip() + " 0.7\n"
    written(tmp_path, label_2__1=sitting + CAR, label_2__2=CAR)
    annotations = read_annotations(tmp_path)
    names = {"Person sitting", "Car"}
    concepts = [set(image.concepts) for image in annotations.records()]
    assert [names & row for row in concepts] == [names, {"Car"}]


def test_a_file_of_another_content_is_named(tmp_path):
    written(tmp_path, label_2__1=CAR, label_2__readme="Labels of the left camera\n")
    assert f"{tmp_path}: not read: label_2/readme.txt" in read_annotations(tmp_path).notes


def test_files_of_kitti_tracking_are_videos(tmp_path):
    lines = f"0 1 {CAR}2 -1 {CAR.replace('Car', 'DontCare')}3 1 {CAR}"
    written(tmp_path, training__label_02__0000=lines, training__label_02__0001=f"0 7 {CAR}")
    annotations = read_annotations(tmp_path)
    first, second = "training/image_02/0000/", "training/image_02/0001/"
    assert {name: row[:1] for name, row in seen(annotations).items()} == {
        f"{first}000000.png": ["Car"],
        f"{first}000001.png": [],
        f"{first}000002.png": [],
        f"{first}000003.png": ["Car"],
        f"{second}000000.png": ["Car"],
    }
    assert set(annotations.images["split"]) == {"train"}


def test_the_lists_of_wider_face_name_their_splits(tmp_path):
    face = "{}\n1\n8 12 16 24 0 0 0 0 0 0 \n"
    lists = {
        f"wider_face_split__wider_face_{split}_bbx_gt": face.format(f"0--Pier/{split}.jpg")
        for split in ("train", "val")
    }
    written(tmp_path, **lists)
    assert read_annotations(tmp_path).images["split"].tolist() == ["train", "val"]


def test_wider_face_may_have_no_row_of_zeros_and_datumaros_labels(tmp_path):
    text = "a/1.jpg\n0\na/2.jpg\n1\n10.0 5.0 20.0 10.0 - - - False - - big face\na/3.jpg\n"
    text += "a/4.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \na/5.jpg\n1\n8 12 16 24 0 0 0 0 0 0\n"
    first = "a/0.jpg\n1\n8 12 16 24 0 0 0 0 0 0 \n"
    written(tmp_path, wider_face_train_bbx_gt=first + text)
    faces = {"face", "big face"}
    shown = {image.id: faces & {*image.concepts} for image in read_annotations(tmp_path).records()}
    assert shown == {
        "a/0.jpg": {"face"},
        "a/1.jpg": set(),
        "a/2.jpg": {"big face"},
        "a/3.jpg": set(),
        "a/4.jpg": set(),
        "a/5.jpg": {"face"},
    }


def test_the_last_frames_of_a_sequence_of_mot_may_show_nothing(tmp_path):
    written(tmp_path, gt__gt="1,1,9,13,16,24,1,3,0.5\n")
    (tmp_path / "seqinfo.ini").write_text("[Sequence]\nname=Test\nseqLength=3\n")
    assert list(map(len, seen(read_annotations(tmp_path)).values())) == [1, 0, 0]


def test_pictures_in_folders_without_labels_are_named(tmp_path):
    written(tmp_path, training__label_2__1=CAR)
    for split in ("training", "testing"):
        (tmp_path / split / "image_2").mkdir(parents=True)
        (tmp_path / split / "image_2" / "1.png").write_bytes(b"pixels")
    annotations = read_annotations(tmp_path)
    note = "1 picture in folders without annotations left out, such as testing/image_2/1.png"
    assert len(annotations.images) == 1
    assert f"{tmp_path}: {note}" in annotations.notes
