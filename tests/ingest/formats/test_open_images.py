"""Open Images: labels of points."""

from cobalance.ingest.load import read_annotations

HEADER = "ImageId,X,Y,Label,EstimatedYesNo,Source,YesVotes,NoVotes,UnsureVotes,TextLabel\n"


def test_a_point_counts_where_people_say_yes(tmp_path):
    rows = [
        "a1,0.25,0.50,/m/1,yes,ih,1,0,0,",
        "a1,0.75,0.10,/m/2,no,cc,0,3,0,",
        "a2,0.30,0.30,/m/2,Yes,cc,2,0,0,",
        "a3,0.10,0.90,/m/1,unsure,cc,1,1,1,",
    ]
    (tmp_path / "train-points.csv").write_text(HEADER + "\n".join(rows) + "\n")
    (tmp_path / "class-descriptions.csv").write_text("/m/1,Ladder\n/m/2,Bucket\n")
    for path in (tmp_path, tmp_path / "train-points.csv"):
        annotations = read_annotations(path)
        concepts = {image.id: list(image.concepts) for image in annotations.records()}
        assert concepts == {"a1": ["Ladder"], "a2": ["Bucket"], "a3": []}
        assert set(annotations.images["split"]) == {"train"}


def test_listed_images_whose_pictures_are_there_are_images_of_nothing(tmp_path):
    labels = "ImageID,Source,LabelName,Confidence\na1,verification,/m/1,1\n"
    (tmp_path / "train-annotations-human-imagelabels.csv").write_text(labels)
    listed = "ImageID,Subset,OriginalURL\na1,train,\na2,validation,\na3,train,\n"
    (tmp_path / "image_ids_and_rotation.csv").write_text(listed)
    (tmp_path / "images").mkdir()
    for name in ("a1", "a2"):
        (tmp_path / "images" / f"{name}.jpg").write_bytes(b"pixels")
    images = read_annotations(tmp_path).images.set_index("id")
    assert images["split"].to_dict() == {"a1": "train", "a2": "validation"}
