"""Files that no reader can take: what is wrong and what to do."""

import pytest

from graph.errors import worded
from graph.records import ImageRecord, Mention
from ingest.load import read_annotations


@pytest.mark.parametrize(
    ("content", "reason", "remedy"),
    [
        (b"", "is empty", "Name a file"),
        (b" \n ", "is empty", "Name a file"),
        (b"\xef\xbb\xbf", "is empty", "Name a file"),
        (b"\x1f\x8b\x08\x00rest", "is compressed (gzip)", "gunzip"),
        (b"PK\x03\x04rest", "ZIP archive or a spreadsheet", "as CSV"),
        ("id,label\n".encode("utf-16"), "is UTF-16", "UTF-8"),
        (b"\x89PNG\r\n", "is an image", "with its annotations"),
        (b"one column\nonly\n", "none of the known formats (coco-instances, ", "input_format"),
        (b"\0\1\2, binary", "none of the known formats", "input_format"),
    ],
)
def test_files_of_no_known_format(content, reason, remedy, write, failure):
    error = failure(write(content))
    assert error.record is None
    assert reason in error.reason
    assert remedy in worded(error.remedy)


def test_files_that_are_not_there(tmp_path, failure):
    assert failure(tmp_path / "none.csv").reason == "there is no such file"
    assert failure(tmp_path).reason == "is a folder"
    (tmp_path / "file").write_text("x")
    error = failure(tmp_path / "file" / "below")
    assert error.reason == "cannot be read (Not a directory)"


def test_a_folder_leads_to_the_file_to_name(tmp_path, failure):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "1.jpg").touch()
    remedy = failure(tmp_path).remedy
    assert "write a CSV file with the columns image, class and concepts" in remedy
    line = remedy.partition("such as: ")[2].rstrip(".")
    table = tmp_path / "table.csv"
    table.write_text(f"image,class,concepts\n{line}\n")
    assert list(read_annotations(table).records()) == [
        ImageRecord("cat/1.jpg", "cat", (Mention("sofa"), Mention("lamp")), None, "cat/1.jpg")
    ]
    for name in ("cat/metadata.jsonl", "metadata.csv", "manifest.parquet"):
        (tmp_path / name).touch()
        assert failure(tmp_path).remedy == f"Name the file with its annotations: {tmp_path / name}."
