"""Names of codes in the files that publishers put beside their lists."""

import pytest

from cobalance.base.errors import InputError, OptionError
from cobalance.ingest.fields.code_files import read_code_names
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions, code_names

NAMES = {"0": "stop sign", "1": "bus"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0 stop sign\n1 bus\n", NAMES),
        ("0: stop sign\n1: bus\n", NAMES),
        ("stop sign 0\nbus 1\n", NAMES),
        ("stop sign\nbus\n", NAMES),
        ("0,stop sign\n1,bus\n", NAMES),
        ("code,total,name\n0,7,stop sign\n1,8,bus\n", NAMES),
        ('{"0": "stop sign", "1": "bus"}', NAMES),
        ('{"stop sign": 0, "bus": 1}', NAMES),
        ('["stop sign", "bus"]', NAMES),
        ("2\nname  type\nstop sign  3\nbus  1\n", {"1": "stop sign", "2": "bus"}),
        ("n01 tench, Tinca\nn02 bus\n", {"n01": "tench, Tinca", "n02": "bus"}),
    ],
)
def test_each_way_to_name_codes(tmp_path, content, expected):
    file = tmp_path / "names"
    file.write_text(content)
    assert read_code_names(file) == expected
    given = [f"y={file}", "place:0=land"]
    assert code_names(given, read_code_names) == {"y": expected, "place": {"0": "land"}}


def test_a_file_that_cannot_be_read(tmp_path):
    file = tmp_path / "names"
    file.write_text("{0: 'bus'}")
    with pytest.raises(InputError, match="names: is not JSON"):
        read_code_names(file)


def test_python_takes_a_file_of_names_as_the_command_line_does(tmp_path):
    (tmp_path / "classes.txt").write_text("hull\nmast\n")
    table = tmp_path / "list.csv"
    table.write_text("image,label\n1.jpg,0\n2.jpg,1\n")

    for names in (str(tmp_path / "classes.txt"), tmp_path / "classes.txt", ["hull", "mast"]):
        annotations = read_annotations(table, ReadOptions(names={"label": names}))
        assert annotations.images["class_name"].tolist() == ["hull", "mast"]
    with pytest.raises(OptionError, match="names of the codes in 'label' are 7"):
        read_annotations(table, ReadOptions(names={"label": 7}))
