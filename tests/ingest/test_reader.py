"""Files that no reader can take: what is wrong and what to do."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from cobalance.base.errors import InputError, render
from cobalance.base.records import ImageRecord, Mention
from cobalance.ingest.concepts.vocabulary import load_vocabulary
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions


def spreadsheet():
    """An empty workbook, as its first part."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(zipfile.ZipInfo("[Content_Types].xml"), "<Types/>")  # without today's date
    return content.getvalue()


SHEET = spreadsheet()


@pytest.mark.parametrize(
    ("content", "reason", "remedy"),
    [
        (b"", "is empty", "Name a file"),
        (b" \n ", "is empty", "Name a file"),
        (b"\xef\xbb\xbf", "is empty", "Name a file"),
        (b"\x1f\x8b\x08\x00rest", "is compressed (gzip)", "gunzip"),
        (SHEET, "ZIP archive or a spreadsheet", "as CSV"),
        (SHEET[:60], "is a damaged archive", "anew"),
        ("id,label\n".encode("utf-16"), "is UTF-16", "UTF-8"),
        (b"\x89PNG\r\n", "is an image", "with its annotations"),
        (
            b"one column\nonly\n",
            "none of the known formats (coco-panoptic, ",
            "input_format",
        ),
        (b"\0\1\2, binary", "none of the known formats", "input_format"),
    ],
)
def test_files_of_no_known_format(content, reason, remedy, write, failure):
    error = failure(write(content))
    assert error.record is None
    assert reason in error.reason
    assert remedy in render(error.remedy)


def test_files_that_are_not_there(tmp_path, failure):
    assert failure(tmp_path / "none.csv").reason == "there is no such file"
    assert failure(tmp_path).reason == "is a folder"
    (tmp_path / "file").write_text("x")
    error = failure(tmp_path / "file" / "below")
    assert error.reason == "cannot be read (Not a directory)"


@pytest.mark.timeout(60)  # opening a pipe waits for whoever writes to it
@pytest.mark.parametrize("input_format", [None, "csv", "coco-instances"])
def test_pipes_and_devices(input_format, tmp_path, failure):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        error = failure(path, input_format=input_format)
        assert error.reason == "is a pipe or a device, not a file"
        assert "Save its content to a file" in error.remedy


def test_a_text_of_no_reasonable_size(tmp_path):
    path = tmp_path / "words.txt"
    with path.open("wb") as file:
        file.write(b"tree\n")
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="is larger than 16 MiB"):
        load_vocabulary(ReadOptions(vocabulary=path))


def test_a_folder_leads_to_the_file_to_name(tmp_path, failure):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "1.jpg").touch()
    message = str(failure(tmp_path))
    assert "write a CSV file with the columns image, class and concepts" in message
    line = message.partition("such as: ")[2].rstrip(".")
    table = tmp_path / "table.csv"
    table.write_text(f"image,class,concepts\n{line}\n")
    assert list(read_annotations(table).records()) == [
        ImageRecord("cat/1.jpg", "cat", (Mention("sofa"), Mention("lamp")), None, "cat/1.jpg")
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("shapes-train.tfrecord-00000-of-00004", "is TFRecord"),
        ("cars_annos.mat", "is MATLAB's"),
        ("labels.pkl", "is a pickle"),
        ("data_batch_1", "is a pickle"),
        ("train-images-idx3-ubyte", "is IDX, as MNIST has it"),
        ("train-images-idx3-ubyte.gz", "is IDX, as MNIST has it"),
        ("data.mdb", "is a database of LMDB"),
        ("camelyonpatch.h5", "is HDF5"),
        ("x_train.npy", "holds arrays of NumPy"),
    ],
)
def test_what_no_reader_takes_is_refused_by_its_name_alone_and_in_a_folder(name, reason, tmp_path):
    folder = tmp_path / "downloaded"
    folder.mkdir()
    (folder / name).write_bytes(b"\x80\x04\0\0\x08\x03")
    for path in (folder / name, folder):
        with pytest.raises(InputError) as caught:
            read_annotations(path)
        assert caught.value.file == str(folder / name)
        assert caught.value.reason.startswith(reason)
        assert render(caught.value.remedy).startswith(("Save", "Write", "Export"))


def test_text_is_read_whatever_its_file_is_called(tmp_path):
    path = tmp_path / "labels.mat"
    path.write_text("id,label\n1,cat\n2,dog\n")
    assert read_annotations(path).images["class_name"].tolist() == ["cat", "dog"]
