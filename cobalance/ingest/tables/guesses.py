"""Guess what the columns of a table hold: by their names, then by their values.

A load goes by options, by usual names (`usual_column`, see `cobalance.ingest.tables.columns`), and,
for columns without a role, by values (`guess_kind`). What `guess_uses` says for a file's preview
is offered to a person first, so that weaker signs will do.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import BoolArray
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import map_values, split_named, without
from cobalance.ingest.tables.concept_cells import (
    are_spaced,
    delimited_parts,
    parse_list,
    starts_list,
    words_in_each,
)
from cobalance.ingest.tables.row_values import NAMES, concept_list
from cobalance.ingest.tables.values import Values, encode_values

USUAL_NAMES = map_values(
    str.split,
    {
        "id": "image_id imageid id img_id filename file_name img_filename fname image_name image "
        "img image_path img_path path filepath file_path image_file file isic_id",
        "class": "label class class_name y target classid",
        "concepts": "concepts objects tags attributes keywords concept object tag attribute "
        "keyword predictionstring",
        "scores": "scores",
        "caption": "caption captions text description",
        "split": "split partition subset",
        "cluster": "patient_id video video_id sequence scene_token photographer",
        "uri": "uri url image_url image_path img_path path filepath file_path file_name filename "
        "img_filename fname image_file file image",
        "width": "width width_px image_width",
        "height": "height height_px image_height",
    },
)
"""Names of columns by role, in lower case with underscores, the most usual first."""
CONCEPT_COLUMNS = {*USUAL_NAMES["concepts"], *NAMES}
"""Names of columns whose texts are concepts as they stand."""

_PLURALS = {"concepts", "objects", "tags", "attributes", "keywords", "labels", "categories"}

IMAGE_FILE = re.compile(r"\S\.(jpe?g|png|webp|bmp|gif|tiff?)([?#]\S*)?$", re.IGNORECASE)
_PLACE = re.compile(r"^([a-z][a-z0-9+.-]+://|data:|[A-Za-z]:\\)|\S\.[A-Za-z][A-Za-z0-9]{1,4}$")
_DATE = re.compile(r"(1[6-9]|20)\d\d[-/:.](0?[1-9]|1[0-2])[-/:.](0?[1-9]|[12]\d|3[01])(\D|$)")
_ID = re.compile(r"(?i:(^|.*[_\s-])(ids?|idx|index|uuid|guid|hash|md5))|.*[a-z]I[dD]")
_CODED = re.compile(r"(?i)class|categor|label|species|concept|attribute|type")
_HASH = re.compile(r"(?i)(?=.*\d)[0-9a-f-]{16,}$")
# What tools and databases write of themselves, as `normal_name` has it: of the annotation, of the
# frame, of the file; also the index of a pandas frame, and labels made wrong on purpose.
_OWN = re.compile(
    r"annotator(_id)?|annotation_id|lead_time|(created|updated|modified)_?(at|by)"
    r"|(track|video|frame|instance|box|bbox|object|region|patient|subject|user|worker|session)_?id"
    r"|frame_(number|index|no|num)|(is_?)?crowd|is_?group_?of|keyframe|region_count"
    r"|(image_|file_)?(md5|sha\d*|[adpw]?hash)(sum)?|file_?size(_bytes)?"
    r"|roi[._][xy][12]|unnamed:_\d+|level_0|noisy_labels?_\d+"
)
_CODES = re.compile(r"\d+([\s,;|]+\d+)*$")
_COUNTERS = {"index", "frame", "area", "row"}  # own where they are numbers
_BOXES = re.compile(r"[\s\[(]*(-?\d+\.?\d*[\s,;|)\]\[(]+){3,}-?\d+\.?\d*[\s\])]*$")  # of any number
_DECIMAL = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?$", re.IGNORECASE)
_NUMBERS = re.compile(r"[\s\d.,;|+-]*$")

_FIRST = 1_000  # cells by which an id without a usual name is known
_MOSTLY = 0.95  # share of the records that decides, whatever is written in the others
_HALF = 0.5  # share that is enough where the others say that there is none
_OFTEN = 0.9  # share that is enough to offer a role
_MOST_VALUES = 100  # different values that are few enough for classes, or for concepts
# More are concepts, too, where there are `_EACH` records for each of them.
_MOST_OF_ALL = 1_000
_EACH = 20
# So many different numbers are a scale or codes, more are measured, and go into bins, unless they
# number the values of a column without a gap from 0 or 1, up to `_MOST_CODES`.
_FEW = 10
_MOST_CODES = 20
_FREE_WORDS = 5.0  # on average, from which texts are sentences and no names
_CLASS_WORDS = 4  # up to which texts are names of classes, such as "great horned owl"
_PART_WORDS = 3  # up to which the parts of a text are a list of names, and no clauses of a sentence
_MOST_RIVALS = 2  # a person is asked about, beside the first
_JOINED = "Some rows have the same: together they are one image."


def usual_column(role: str, names: Iterable[str]) -> str | None:
    """Find the column with the most usual name for a role.

    Examples
    --------
    >>> usual_column("class", ["y", "Label"])
    'Label'
    """
    names_by_form = {normal_name(str(name)): name for name in reversed(list(names))}
    # Beside x, y is a coordinate.
    if role == "class" and "x" in names_by_form:
        names_by_form.pop("y", None)
    usual = filter(names_by_form.__contains__, USUAL_NAMES[role])
    return next(map(names_by_form.__getitem__, usual), None)


def picture_of_rows(ids: str, columns: Mapping[str, pa.Array]) -> str | None:
    """The column of pictures where `ids` number the rows of a long table, several of a picture.

    Examples
    --------
    >>> columns = {"id": pa.array(["1", "2"], TEXT), "image": pa.array(["a.jpg", "a.jpg"], TEXT)}
    >>> picture_of_rows("id", columns)
    'image'
    """
    picture = usual_column("uri", columns)
    if normal_name(ids) != "id" or picture is None:
        return None

    names, numbers = columns[picture].drop_null(), columns[ids]
    if names.type != TEXT or numbers.type != TEXT:
        return None

    numbers_rows = pc.count_distinct(numbers).as_py() == len(numbers)
    repeats = pc.count_distinct(names).as_py() < len(names)
    # An image has one class: rows of several classes with concepts of their own share a picture.
    if not (numbers_rows and repeats) or _disagree_on_class(picture, columns):
        return None
    return picture


def _disagree_on_class(picture: str, columns: Mapping[str, pa.Array]) -> bool:
    """Whether rows with concepts give one picture several classes."""
    class_column = usual_column("class", columns)
    concepts = usual_column("concepts", columns)
    if class_column is None or concepts is None:
        return False

    rows = pa.table({"picture": columns[picture], "class": columns[class_column]})
    pairs = rows.group_by(["picture", "class"]).aggregate([])
    return pairs.num_rows > pc.count_distinct(columns[picture], mode="all").as_py()


def has_fractions(column: pa.Array) -> bool:
    """Whether some of a column's numbers have decimals, so that they are no sizes in pixels."""
    if pa.types.is_floating(column.type):
        return bool(pc.any(pc.not_equal(column, pc.round(column))).as_py())
    if column.type != TEXT:
        return False
    has_fraction = pc.match_substring_regex(column.unique(), r"^\s*-?\d*\.\d*[1-9]\d*\s*$")
    return bool(pc.any(has_fraction).as_py())


def id_by_values(names: Iterable[str], columns: Mapping[str, pa.Array]) -> str | None:
    """The first column of names of picture files, or of a hash in each row; None without any.

    Examples
    --------
    >>> photos = pa.array(["1.jpg", "2.jpg", "2.jpg"], TEXT)
    >>> id_by_values(["seen", "photo"], {"seen": pa.array(["hen", "egg"], TEXT), "photo": photos})
    'photo'
    """
    texts = [name for name in names if columns[name].type == TEXT]

    samples = {name: _first_texts(columns[name]) for name in texts}
    for name, sample in samples.items():
        if _most(sample, IMAGE_FILE.search):
            return name

    for name, sample in samples.items():
        column = columns[name]
        if _most(sample, _HASH.match, 1) and pc.count_distinct(column).as_py() == len(column):
            return name
    return None


def _first_texts(column: pa.Array) -> list[str]:
    return list(filter(str.strip, column[:_FIRST].drop_null().to_pylist()))


def normal_name(name: str) -> str:
    """A column's name as `USUAL_NAMES` has it."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def guess_kind(name: str, values: Values) -> tuple[str, str]:
    """Use of a column, as the option ``field`` names it, and the reason."""
    if not values.filled:
        return "ignore", "no value"
    is_number = _numeric(values)
    if _is_own(name, values, is_number):
        return "ignore", "of the tool, the file or a person, and not of what images show"
    if _are_flags(values, is_number):
        return "flag", ""
    if _share(values, is_number):
        return _guess_numbers(name, values)
    if is_plural(name) and (may_be_words(values.sample) or _are_code_lists(values.sample)):
        return "list", ""
    return _guess_texts(values)


def _is_own(name: str, values: Values, is_number: BoolArray) -> bool:
    """Whether a column is about the file, the frame or the annotation, and names nothing."""
    usual_name = normal_name(name)
    if _OWN.fullmatch(usual_name):
        return True

    if usual_name in _COUNTERS:
        return _share(values, is_number)
    return _ID.fullmatch(name) is not None and _most(values.sample, _HASH.match)


def _numeric(values: Values) -> BoolArray:
    """Whether each value is a number; none is where most of the first are not."""
    # A column of a million paths is not parsed to learn that none of them is a number.
    first = pd.to_numeric(pd.Series(values.sample), errors="coerce")
    if 2 * first.isna().sum() > len(first):
        return np.zeros(len(values.distinct), dtype=bool)
    return np.isfinite(values.numbers)


def _are_flags(values: Values, is_number: BoolArray) -> bool:
    """Whether nearly all records say yes or no, and the others hold no further number."""
    if len(values.distinct) > _FEW:
        return False
    is_flag = values.are_flags()
    return _share(values, is_flag) and not is_number[~is_flag].any()


def _share(values: Values, holds: BoolArray) -> bool:
    """Whether something holds for nearly all records that have a value."""
    return bool(values.counts[holds].sum() >= _MOSTLY * values.filled)


def _guess_texts(values: Values) -> tuple[str, str]:
    """Use of a column of texts, from the plainest forms to what its counts say."""
    n, n_different, sample = values.filled, len(values.distinct), values.sample
    if _most(sample, _DATE.match):
        return "ignore", "dates, of which a part may be asked for: year, month, weekday or hour"

    # A slash alone makes a path only where most values differ: "cat/dog" that repeats is a name.
    differ = 2 * n_different > n
    if _most(sample, _PLACE.search) or (differ and _most(sample, _has_slash)):
        return "ignore", "names of files, or addresses"
    if is_list(sample):
        return "list", ""
    if _most(sample, lambda text: text[0] in "[{") or _most(sample, _BOXES.match, _HALF):
        return "ignore", "lists or objects that name nothing"
    if n_different > _FEW and words_in_each(sample) >= _FREE_WORDS:
        return "ignore", "free text"

    # The fewer records there are, the more of their values differ by chance.
    nearly_all_differ = 10 * n_different > 9 * n
    have_digits = _most(sample, lambda text: any(map(str.isdigit, text)))
    if (differ and n > 20) or (nearly_all_differ and (n > 10 or (n > 1 and have_digits))):
        return "ignore", "nearly every record has a value of its own, as ids have"
    if n_different > _MOST_VALUES and (n_different > _MOST_OF_ALL or n < _EACH * n_different):
        return "ignore", f"{n_different:,} different values in {n:,} records"
    if n_different == 1 and 1 < n == len(values.codes):
        return "ignore", f"{sample[0][:60]!r} in every record"
    return "values", ""


def _guess_numbers(name: str, values: Values) -> tuple[str, str]:
    """Use of a column of numbers: codes, ids, or measures to put into bins."""
    numbers = values.numbers[np.isfinite(values.numbers)]
    n, n_different = values.filled, len(numbers)
    span = numbers.max() - numbers.min() + 1
    are_whole = bool((numbers == np.round(numbers)).all())
    if n_different == 1 and 1 < n == len(values.codes):
        return "ignore", f"{numbers[0]:g} in every record"
    if are_whole and 1 < n_different == n and span <= 2 * n:
        return "ignore", "nearly every record has a number of its own, as ids have"

    are_codes = are_whole and numbers.min() in (0, 1) and span == n_different <= _MOST_CODES
    is_id = are_whole and _ID.fullmatch(name) is not None and not _CODED.search(name)
    # Few whole numbers are levels or codes, however few records there are; measures have decimals.
    repeat_often = n >= 2 * n_different or (are_whole and not is_id)
    if n_different < n and (are_codes or (n_different <= _FEW and repeat_often)):
        return "values", ""
    if are_whole and _ID.fullmatch(name):
        return "ignore", "named like an id"
    return "bins", ""


def is_list(texts: list[str]) -> bool:
    """Whether different cells are lists of names: in JSON, as Python prints them, or delimited.

    Examples
    --------
    >>> is_list(["sun|rain", "rain"]), is_list(["Paris, France", "Rome, Italy"])
    (True, False)
    """
    listed = list(filter(starts_list, texts))
    if _most(texts, starts_list):
        return _most(texts, _is_parsed)
    # Where one answer is text, several are a list.
    if listed and all(map(_is_parsed, listed)):
        return words_in_each(without(texts, listed)) <= _PART_WORDS
    mark, parts = delimited_parts(texts)
    if len(parts) <= len(texts) or words_in_each(parts) > _PART_WORDS:
        return False

    # A comma is in names, too: "Paris, France" and "Rome, Italy" share no part, but tags do.
    n_different = len({*parts})
    return n_different <= len(texts) if mark == "," else n_different < len(parts)


def is_plural(name: str) -> bool:
    """Whether a column is called as lists of concepts are, or lists of their ids."""
    usual_name = normal_name(name)
    return usual_name in _PLURALS or usual_name.endswith("_ids")


def _are_code_lists(texts: list[str]) -> bool:
    """Whether cells are codes, several of them in some."""
    return _most(texts, _CODES.match, 1) and not all(map(str.isdecimal, texts))


def may_be_words(texts: list[str]) -> bool:
    """Whether cells are words with spaces between, as tags are, and no names of several words.

    A word of a name keeps its place: traffic light, traffic sign.

    Examples
    --------
    >>> may_be_words(["rust scab", "scab", "rot"]), may_be_words(["stop sign", "road sign"])
    (True, False)
    """
    if not are_spaced(texts):
        return False

    places: dict[str, set[int]] = {}
    for words in map(str.split, texts):
        for place, word in enumerate(words):
            places.setdefault(word, set()).add(place if len(words) > 1 else -1)
    return any(len(of_word) > 1 for of_word in places.values())


def may_be_list(texts: list[str]) -> bool:
    """Whether cells of rows may be lists of names, some of which are in several.

    Numbers are none: they are boxes more often than codes.
    """
    if not texts or starts_list(texts[0]):
        return bool(texts)
    mark, parts = delimited_parts(texts)
    repeat = len({*parts}) < len(parts) or len(texts) == 1
    is_short = words_in_each(parts) <= _PART_WORDS
    return mark is not None and repeat and is_short and not all(map(_NUMBERS.match, parts))


def _is_parsed(cell: str) -> bool:
    try:
        return parse_list(concept_list(cell) or "") is not None
    except ValueError:
        return False


def _has_slash(text: str) -> bool:
    return "/" in text or "\\" in text


def _most(texts: Collection[str], fits: Callable[[str], object], share: float = _MOSTLY) -> bool:
    """Whether nearly all texts fit; never without texts."""
    return len(texts) > 0 and sum(map(bool, map(fits, texts))) >= share * len(texts)


@dataclass(frozen=True)
class Guess:
    """Guessed roles of a column.

    Parameters
    ----------
    roles : tuple of str
        As in `USUAL_NAMES`; ``id`` and ``uri`` may share a column; empty for nothing known.
    why : str
        For people, where the values decided or are in doubt; a sentence or two, else empty.
    rivals : tuple of str
        Columns that would do as well.
    contested : str
        The role that they would have.
    """

    roles: tuple[str, ...] = ()
    why: str = ""
    rivals: tuple[str, ...] = ()
    contested: str = ""

    def of_sample(self) -> "Guess":
        """The same guess by some of a file's rows."""
        why = self.why.replace("in every record", "in the rows sampled")
        return replace(self, why=why.replace("values.", "values in the rows sampled."))


def guess_uses(
    columns: Mapping[str, Sequence[str | None]], named: Mapping[str, str]
) -> dict[str, Guess]:
    """Guess the roles of each column, or what a column without one becomes.

    Parameters
    ----------
    columns, named : mapping
        As of `guess_columns`.

    Returns
    -------
    dict of str to Guess
        The role of a column that becomes concepts is ``"field"`` and its kind, as of `guess_kind`.
    """
    kinds = {
        name: guess_kind(name, encode_values(pa.array(values, TEXT)))
        for name, values in columns.items()
    }
    flags = [name for name, (kind, _) in kinds.items() if kind == "flag"]

    guesses = guess_columns(columns, named, flags)
    for name, (kind, why) in kinds.items():
        if not guesses[name].roles:
            guesses[name] = Guess(() if kind == "ignore" else (f"field {kind}",), why)
    return guesses


def guess_columns(
    columns: Mapping[str, Sequence[str | None]],
    named: Mapping[str, str],
    indicators: Collection[str] = (),
) -> dict[str, Guess]:
    """Guess the roles of each column.

    Names come first. Where none is usual, values that differ in every row are ids, few values are
    classes, lists are concepts, names of picture files are pictures, and sentences are captions.

    Parameters
    ----------
    columns : mapping of str to sequence of str or None
        The first values of each column, as text.
    named : mapping of str to str
        Columns by role, as their names say.
    indicators : collection of str
        Columns of one concept each, with 0 and 1: none of them is a class.
    """
    search = _Search(map_values(_Signs, columns), dict(named))
    search.guess(indicators)
    return {name: search.guess_of(name) for name in columns}


class _Signs:
    """Signs of a role in a column's first values."""

    def __init__(self, values: Sequence[str | None]) -> None:
        self.texts = [text for value in values if (text := (value or "").strip())]
        self.filled = len(self.texts)
        self.distinct = len(set(self.texts))

        self.is_picture = _most(self.texts, IMAGE_FILE.search, _OFTEN)
        self.is_list = not self.is_picture and may_be_list(self.texts)
        self.is_split = self.filled > 0 and all(map(split_named, self.texts))
        self.is_decimal = any(map(_DECIMAL.match, self.texts))
        self.is_unique = 1 < len(values) == self.filled == self.distinct and not self.is_decimal

        words = words_in_each(self.texts)
        self.is_caption = words >= _FREE_WORDS and 2 * self.distinct > self.filled
        # Names of classes repeat: at least two rows each, on average.
        few = 2 <= self.distinct <= max(2, min(_MOST_VALUES, self.filled // 2))
        is_other = self.is_list or self.is_picture or self.is_split or self.is_decimal
        self.is_class = few and words <= _CLASS_WORDS and not is_other


class _Search:
    """The roles found so far, and why."""

    def __init__(self, columns: Mapping[str, _Signs], named: dict[str, str]) -> None:
        self.columns, self.of = columns, named
        self.why: dict[str, str] = {}
        self.rivals: dict[str, tuple[str, list[str]]] = {}

    def guess_of(self, name: str) -> Guess:
        roles = filter(lambda role: self.of.get(role) == name, USUAL_NAMES)
        contested, rivals = self.rivals.get(name, ("", []))
        return Guess(tuple(roles), self.why.get(name, ""), tuple(rivals), contested)

    def guess(self, indicators: Collection[str]) -> None:
        """Guess from the surest signs on: a column that one role takes is free for no other."""
        self._doubt_names()
        self._take("concepts", self._fitting(lambda signs: signs.is_list), "Its values are lists.")
        self._take("split", self._fitting(lambda signs: signs.is_split))

        # One column may be both: names of picture files are ids, too.
        ids = self.of.get("id")
        if "uri" not in self.of and ids is not None and self.columns[ids].is_picture:
            self.of["uri"] = ids
        self._take("uri", self._fitting(lambda signs: signs.is_picture))
        picture = self.of.get("uri")
        if "id" not in self.of and picture is not None and self.columns[picture].is_unique:
            self.of["id"] = picture
        names = self._fitting(
            lambda signs: signs.is_unique and not (signs.is_caption or signs.is_list)
        )
        self._take("id", names, "Its values differ in every row.")
        if "id" not in self.of and picture is not None:
            self.of["id"] = picture
            self.why[picture] = _JOINED

        names = without(self._fitting(lambda signs: signs.is_class), indicators)
        names.sort(key=lambda name: _most(self.columns[name].texts, _NUMBERS.match, _OFTEN))
        self._take("class", names, "{} different values.")
        self._take("caption", self._fitting(lambda signs: signs.is_caption))

    def _doubt_names(self) -> None:
        """Correct roles that the values contradict, and note doubts."""
        picture, label, ids = map(self.of.get, ("uri", "class", "id"))
        if picture is not None and picture == ids:
            signs = self.columns[picture]
            # Without a slash or an ending the values lead to no file.
            if not (signs.is_picture or any(map(_has_slash, signs.texts))):
                del self.of["uri"]
        if label is not None:
            self._doubt_class(label)
        if ids is not None and (rows := self.columns[ids]).distinct < rows.filled:
            self.why[ids] = _JOINED

    def _doubt_class(self, label: str) -> None:
        """Take a column that is named like a class for concepts, or note what speaks against it."""
        signs = self.columns[label]
        if signs.is_list and "concepts" not in self.of:
            del self.of["class"]
            self.of["concepts"] = label
            self.why[label] = "Named like a class, but its values are lists."
        elif signs.distinct > max(_MOST_VALUES, signs.filled // 2) or signs.is_decimal:
            self.why[label] = (
                f"Named like a class, but {signs.distinct:,} values differ "
                f"in {signs.filled:,} rows."
            )
        else:
            rival = usual_column("class", self._fitting(lambda _: True))
            if rival is not None:
                self.why[label] = "Not the only one that is named like a class."
                self.rivals[label] = "class", [rival]

    def _take(self, role: str, candidates: Sequence[str], why: str = "") -> None:
        """Give a role that no column has yet to the first candidate, and name the others."""
        if role in self.of or not candidates:
            return

        first, *others = candidates
        self.of[role] = first
        if why:
            self.why[first] = why.format(self.columns[first].distinct)

        if others:
            self.rivals[first] = role, others[:_MOST_RIVALS]

    def _fitting(self, fits: Callable[[_Signs], bool]) -> list[str]:
        """Columns without a role whose values fit."""
        has_role = self.of.values()
        return [
            name for name, signs in self.columns.items() if name not in has_role and fits(signs)
        ]
