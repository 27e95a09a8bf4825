"""What an import's fields are called, also in messages that name options of the command line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from graph.errors import InputError, OptionError

BY_COLUMN, BY_CATEGORY, BY_FILE = "Column", "Category", "Another file"
BY_CAPTIONS, BY_OWN_CAPTIONS = "Words in a captions file", "Words in its captions"
ON_ERROR = {"fail": "Stop at the first", "skip": "Leave out, and list"}

LABELS = {  # of the option on the command line
    "--input-format": "Format",
    "--split": "Split of all images",
    "--on-error": "Malformed records",
    "--replace": "Delete images of the dataset that the file lacks",
    "--class-category": BY_CATEGORY,
    "--class-file": BY_FILE,
    "--class-captions": BY_CAPTIONS,
    "--class-words": BY_OWN_CAPTIONS,
    "--vocabulary": "Vocabulary file",
    "--match": "Match",
    "--id-column": "Image id",
    "--class-column": "Class",
    "--concepts-column": "Concepts",
    "--scores-column": "Scores",
    "--split-column": "Split",
    "--uri-column": "Where its pixels are",
    "--width-column": "Width in pixels",
    "--height-column": "Height in pixels",
    "--caption-column": "Captions",
    "--concept-columns": "Columns of one concept each, with 0 or 1",
    "--delimiter": "What separates concepts",
    "--min-score": "Least score of a concept",
    "--min-area": "Least area of an object, in square pixels",
    "--concept-table": "Concept table",
    "--rename-class": "Rename classes, one a line",
    "--keep-class": "Keep only these classes, one a line",
    "--keep-split": "Keep only these splits, one a line",
}

_OPTION = "(?:" + "|".join(sorted(LABELS, key=len, reverse=True)) + r")(?![\w-])"
_WITH_VALUE = re.compile(rf"\b([Pp])ass ({_OPTION}) (?:with )?(?=one of|a file|skip\b|coco-)")
_CHOICE = re.compile(rf"\b([Pp])ass\b(?=[^.]*{_OPTION})")


def in_form_words(text: str) -> str:
    """A message about options of the command line as one about the fields of the form.

    Examples
    --------
    >>> in_form_words("Pass --id-column with one of them.")
    'Set “Image id” to one of them.'
    >>> in_form_words("Fill it in, or pass --on-error skip to leave such records out.")
    'Fill it in, or set “Malformed records” to “Leave out, and list” to leave such records out.'
    >>> in_form_words("Say where the class comes from: pass --class-category or --class-file.")
    'Say where the class comes from: choose “Category” or “Another file”.'
    """
    text = text.replace("--class-words without --class-captions", f"“{BY_OWN_CAPTIONS}”")
    text = _WITH_VALUE.sub(
        lambda found: f"{'Set' if found[1] == 'P' else 'set'} {found[2]} to ", text
    )
    text = _CHOICE.sub(lambda found: "Choose" if found[1] == "P" else "choose", text)
    text = text.replace("--on-error to skip", f"--on-error to “{ON_ERROR['skip']}”")
    return re.sub(_OPTION, lambda found: f"“{LABELS[found[0]]}”", text)


@contextmanager
def errors_in_form_words() -> Iterator[None]:
    """Have errors about files and options name the form's fields."""
    try:
        yield
    except InputError as error:
        remedy = in_form_words(error.remedy)
        raise InputError(error.file, error.record, error.reason, remedy) from None
    except OptionError as error:
        text = str(error)
        if in_form_words(text) == text:
            raise
        raise OptionError(in_form_words(text)) from None
