"""Choices for columns are kept beside the file, and used at its next load."""

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.fields.saved import save_choices, saved_file, with_saved
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions

CHOICES = ReadOptions(
    field={'a "b"': "ignore", "place": "values"}, names={"place": {"0": "läñd", "1": "[wet]"}}
)


def test_choices_come_back_and_the_newer_ones_come_first(tmp_path):
    file = tmp_path / "birds.csv"
    file.write_text('id,label,"a ""b""",place\n1,x,u,0\n2,y,v,1\n')
    assert save_choices(file, ReadOptions()) is None
    assert with_saved(file, ReadOptions()) == ReadOptions()
    assert save_choices(file, CHOICES) == saved_file(file) == tmp_path / "birds.csv.fields.toml"
    assert with_saved(file, ReadOptions()) == CHOICES
    found = read_annotations(file)
    assert sorted(found.mentions["concept"]) == ["place: [wet]", "place: läñd"]
    newer = with_saved(file, ReadOptions(field={"place": "ignore"}))
    assert newer.field == {**CHOICES.field, "place": "ignore"}


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path):
    assert save_choices(tmp_path / "no folder" / "a.csv", CHOICES) is None


@pytest.mark.parametrize("content", ["field = 3", "[fields]\na = 'b'", "[", "[names]\na = 'b'"])
def test_a_file_of_choices_that_cannot_be_used(content, tmp_path):
    file = tmp_path / "a.csv"
    saved_file(file).write_text(content)
    with pytest.raises(InputError, match=r"a\.csv\.fields\.toml: cannot be used"):
        with_saved(file, ReadOptions())
