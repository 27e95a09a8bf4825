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
