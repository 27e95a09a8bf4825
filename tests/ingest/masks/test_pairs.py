"""Which pictures are drawn of others, by their names and by a look at few."""

import pytest

from cobalance.ingest.masks.pairs import find_masks


def never(path):
    raise AssertionError(f"{path} was opened")


def masks_of(*paths, looks=never):
    return find_masks(sorted(paths), looks)


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        ("images/reef.jpg", "masks/reef.png"),
        ("JPEGImages/2007_1.jpg", "SegmentationClass/2007_1.png"),
        ("leftImg8bit/val/ulm/a_leftImg8bit.png", "gtFine/val/ulm/a_gtFine_labelIds.png"),
        ("img_dir/train/a.png", "ann_dir/train/a.png"),
        ("train/a.png", "trainannot/a.png"),
        ("RGB/a.tif", "GT/a.tif"),
        ("701_StillsRaw_full/0001TP_6.png", "LabeledApproved_full/0001TP_6_L.png"),
        ("images/0006R0_f02280.png", "labels/0006R0_f02280_P.png"),
        ("Train/Urban/images_png/0.png", "Train/Urban/masks_png/0.png"),
        ("training/image_2/000000_10.png", "training/semantic/000000_10.png"),
        ("kaggle_3m/TCGA_1/TCGA_1_2.tif", "kaggle_3m/TCGA_1/TCGA_1_2_mask.tif"),
        ("train/100_sat.jpg", "train/100_mask.png"),
        ("test/dent/000.png", "ground_truth/dent/000_mask.png"),
        ("images/image_0001.png", "masks/gt_0001.png"),
        ("data/image12.png", "data/mask12.png"),
        ("2_Ortho_RGB/top_potsdam_2_10_RGB.tif", "5_Labels_all/top_potsdam_2_10_label.tif"),
        ("top/top_mosaic_09cm_area1.tif", "gts_for_participants/top_mosaic_09cm_area1.tif"),
        ("training/images/21_training.tif", "training/1st_manual/21_manual1.gif"),
        ("train_images/a.jpg", "train_masks/a.png"),
        ("RGBLeft/0.png", "GTLeft/0.png"),
    ],
)
def test_known_pairs_of_names_tell_a_mask_without_a_look(image, mask):
    masks = masks_of(image, mask, "other/unlike.jpg")
    assert masks.of_image == {image: [mask]}
    assert masks.images == sorted([image, "other/unlike.jpg"])


def test_of_several_masks_those_of_kinds_of_things_are_read():
    names = ["color", "instanceIds", "labelIds"]
    drawn = [f"gtFine/train/ulm/ulm_1_gtFine_{name}.png" for name in names]
    image = "leftImg8bit/train/ulm/ulm_1_leftImg8bit.png"
    masks = masks_of(image, *drawn)
    assert masks.of_image == {image: [drawn[2]]}
    assert masks.drawn == {*drawn}

    drawn = ["SegmentationClass/1.png", "SegmentationObject/1.png"]
    assert masks_of("JPEGImages/1.jpg", *drawn).of_image == {"JPEGImages/1.jpg": drawn[:1]}
    drawn = ["training/1st_manual/21_manual1.gif", "training/mask/21_training_mask.gif"]
    masks = masks_of("training/images/21_training.tif", *drawn)
    assert [*masks.of_image.values()] == [drawn[:1]]


def test_depth_and_edges_are_no_images_and_no_masks_of_things():
    masks = masks_of("images/a.jpg", "depth/a.png", "edges/a.png")
    assert masks.images == ["images/a.jpg"]
    assert masks.of_image == {}
    assert "depth, edges" in masks.note("data")


def test_several_masks_of_an_image_are_all_its_own():
    pictures = ["benign/benign (1).png", "normal/normal (1).png"]
    drawn = ["benign/benign (1)_mask.png", "benign/benign (1)_mask_1.png"]
    masks = masks_of(*pictures, *drawn, "normal/normal (1)_mask.png")
    assert masks.images == pictures
    assert masks.of_image["benign/benign (1).png"] == drawn


@pytest.mark.parametrize(
    "paths",
    [
        ["mask/1.jpg", "mask/2.jpg", "face/1.jpg", "face/2.jpg"],
        ["gt/1.jpg", "sedan/1.jpg"],
        ["masked/mask_1.jpg", "unmasked/1.jpg"],
    ],
)
def test_classes_called_as_masks_are_told_by_a_look(paths):
    looks = set()

    def as_photographs(path):
        looks.add(path)
        return False

    assert masks_of(*paths, looks=as_photographs).images == sorted(paths)
    assert looks


def test_people_with_and_without_masks_are_classes():
    paths = ["with_mask/1.jpg", "without_mask/1.jpg", "mask_weared_incorrect/1.jpg"]
    assert masks_of(*paths, looks=lambda path: False).images == sorted(paths)


def test_names_without_a_word_are_told_by_a_look():
    def is_png(path):
        return path.endswith("png")

    assert masks_of("a/x.jpg", "a/x.png", looks=is_png).of_image == {"a/x.jpg": ["a/x.png"]}
    masks = masks_of("photo a/x.jpg", "outline/x.png", looks=is_png)
    assert masks.images == ["photo a/x.jpg"]
    # Photographs of the same numbers are of classes.
    paths = ["1/1.png", "1/2.png", "2/1.png", "2/2.png"]
    assert masks_of(*paths, looks=lambda path: False).images == paths


def test_bands_and_sizes_of_the_same_images_count_once():
    masks = masks_of("B02/p1.tif", "B03/p1.tif", "B04/p1.tif")
    assert masks.images == ["B02/p1.tif"]
    masks = masks_of("thermal/1.jpg", "visible/1.jpg")
    assert masks.images == ["visible/1.jpg"]
    assert masks_of("HR/1.jpg", "LR/1.jpg", "upsampled/1.jpg").images == ["HR/1.jpg"]


def test_masks_without_the_names_of_their_images_are_none():
    paths = ["images/a.jpg", "images/b.jpg", "masks/x7.png", "masks/y8.png"]
    masks = masks_of(*paths, looks=lambda path: path.endswith("png"))
    assert masks.images == paths[:2]
    assert masks.of_image == {}
    assert masks_of(*paths, looks=lambda path: False).images == paths


@pytest.mark.parametrize("folder", ["masks", "SegmentationClass", "ground_truth", "annotations"])
@pytest.mark.parametrize(
    "names", [["cats_1", "dogs_1"], ["mask_cats_1", "mask_dogs_1"], ["1", "2"]]
)
def test_a_folder_of_masks_beside_folders_of_classes_is_no_class(folder, names):
    images = ["cats/1.jpg", "cats/2.jpg", "dogs/1.jpg", "dogs/2.jpg"]
    masks = [f"{folder}/{name}.png" for name in names]
    assert masks_of(*images, *masks, looks=lambda path: path.endswith("png")).images == images
    for split in ("train", "val"):
        paths = [f"{split}/{path}" for path in (*images, *masks)]
        read = masks_of(*paths, looks=lambda path: path.endswith("png"))
        assert read.images == [f"{split}/{path}" for path in images]


def test_drawn_pictures_of_all_classes_are_images():
    """Sketches, of which a class is called mask."""
    paths = ["hat/1.png", "mask/7.png", "shoe/2.png"]
    assert masks_of(*paths, looks=lambda path: True).images == paths


def test_a_class_folder_that_is_numbered_is_none_of_labels():
    paths = ["label_0/label_0_1.jpg", "label_1/label_1_1.jpg", "label_0_2.jpg"]
    assert masks_of(*paths, looks=lambda path: False).images == sorted(paths)


def test_the_same_name_in_many_places_is_not_guessed():
    paths = [f"images/{kind}/1.jpg" for kind in ("day", "night")]
    masks = masks_of(*paths, "masks/1.png", looks=lambda path: False)
    assert masks.images == paths
    assert masks.of_image == {}
    assert masks.drawn == {"masks/1.png"}
