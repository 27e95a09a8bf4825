"""What reading says about options of the command line, said about the fields of the form."""

import re
from pathlib import Path

import pytest

from app.cli.main import app
from app.views.datasets.import_fields import LABELS, errors_in_form_words, in_form_words
from graph.errors import InputError, OptionError, UnknownNameError
from ingest.options import ClassOptions

INGEST = Path(__file__).parents[4] / "ingest"
OPTION = re.compile(r"--[a-z][a-z-]+")


def test_every_option_that_reading_names_has_a_field():
    named = {
        option
        for file in INGEST.rglob("*.py")
        for option in OPTION.findall(file.read_text(encoding="utf-8"))
    }
    assert len(named) > 15
    assert named <= LABELS.keys()
    (ingest,) = (
        command for command in app.registered_commands if command.callback.__name__ == "ingest"
    )
    assert {option.removeprefix("--").replace("-", "_") for option in LABELS} <= set(
        ingest.callback.__annotations__
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "Write it there, or pass another --input-format.",
            "Write it there, or choose another “Format”.",
        ),
        (
            "Pass --input-format coco-captions, or name a file of instances.",
            "Set “Format” to coco-captions, or name a file of instances.",
        ),
        (
            "Pass --id-column with one of: a, b.",
            "Set “Image id” to one of: a, b.",
        ),
        (
            "Save it as text or whole numbers, or pass another --class-column.",
            "Save it as text or whole numbers, or choose another “Class”.",
        ),
        (
            "Pass --concepts-column, --concept-columns, or --vocabulary with --caption-column.",
            "Choose “Concepts”, “Columns of one concept each, with 0 or 1”, or “Vocabulary file” "
            "with “Captions”.",
        ),
        ("Pass on --split-wise and --unknown.", "Pass on --split-wise and --unknown."),
    ],
)
def test_messages(said, expected):
    assert in_form_words(said) == expected


def test_errors_keep_their_kind_and_place():
    with pytest.raises(InputError) as caught, errors_in_form_words():
        raise InputError("a.csv", "line 3", "it is empty", "Pass --split-column with one of them.")
    assert str(caught.value) == "a.csv, line 3: it is empty. Set “Split” to one of them."
    assert caught.value.record == "line 3"
    with pytest.raises(OptionError) as option, errors_in_form_words():
        ClassOptions(file=Path("a"), words="coco-gb")
    assert "--" not in str(option.value)
    with pytest.raises(UnknownNameError), errors_in_form_words():
        raise UnknownNameError("class", "a", ["b"])
