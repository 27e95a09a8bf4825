"""What a table's columns hold, guessed from their names and values."""

import random

import pytest
from hypothesis import given, strategies as st

from cobalance.ingest.preview import sample_table
from cobalance.ingest.tables.guesses import guess_columns, usual_column

ROWS = 60
COLUMNS = {
    "n": [str(row) for row in range(ROWS)],
    "file": [f"a/{row}.JPG" for row in range(ROWS)],
    "kind": [("cat", "dog", "ox")[row % 3] for row in range(ROWS)],
    "seen": ["sofa|lawn" if row % 2 else "sofa" for row in range(ROWS)],
    "words": [f"a {row} sits on the old sofa, happily" for row in range(ROWS)],
    "part": ["Train" if row % 4 else "val" for row in range(ROWS)],
    "weight": [f"{row / 7:.3f}" for row in range(ROWS)],
    "box": [f"{row},0,{row},5" for row in range(ROWS)],
    "empty": [None] * ROWS,
}
ROLES = {
    "n": (),
    "file": ("id", "uri"),
    "kind": ("class",),
    "seen": ("concepts",),
    "words": ("caption",),
    "part": ("split",),
    "weight": (),
    "box": (),
    "empty": (),
}


def roles(columns, named=None, indicators=()):
    guesses = guess_columns(columns, named or {}, indicators)
    return {name: guess.roles for name, guess in guesses.items()}


@pytest.mark.parametrize("seed", range(3))
def test_values_decide_where_names_say_nothing(seed):
    names = random.Random(seed).sample(list(COLUMNS), len(COLUMNS))
    assert roles({name: COLUMNS[name] for name in names}) == ROLES


def test_without_pictures_the_column_whose_values_differ_is_the_id():
    kept = {name: COLUMNS[name] for name in ("kind", "n", "seen")}
    assert roles(kept) == {"kind": ("class",), "n": ("id",), "seen": ("concepts",)}


def test_other_candidates_are_named():
    other = {**COLUMNS, "place": ["in", "out"] * (ROWS // 2)}
    guess = guess_columns(other, {})["kind"]
    assert (guess.roles, guess.why) == (("class",), "3 different values.")
    assert (guess.rivals, guess.contested) == (("place",), "class")
    both = {"label": ["a", "b", "a"], "target": ["c", "d", "d"], "id": ["1", "2", "3"]}
    guess = guess_columns(both, {"class": "label", "id": "id"})["label"]
    assert guess.rivals == ("target",)


def test_numbers_are_classes_where_no_text_is():
    numbers = {"i": COLUMNS["n"], "year": ["2001", "2002"] * 30, "kind": COLUMNS["kind"]}
    assert roles(numbers)["kind"] == ("class",)
    del numbers["kind"]
    assert roles(numbers)["year"] == ("class",)


def test_names_come_first_and_values_correct_them():
    columns = {
        "label": ["cow|road", "road", "cow"],
        "image": ["a", "b", "c"],
        "y2": ["p", "q", "p"],
    }
    named = {"class": "label", "id": "image", "uri": "image"}
    assert roles(columns, named) == {
        "label": ("concepts",),
        "image": ("id",),  # its values can be no files
        "y2": ("class",),
    }
    columns = {"label": [str(row) for row in range(300)], "id": [str(row) for row in range(300)]}
    guess = guess_columns(columns, {"class": "label", "id": "id"})["label"]
    assert guess.roles == ("class",)
    assert "300 values differ" in guess.why


def test_rows_of_one_image_are_told_of():
    columns = {"f": ["1.jpg", "1.jpg", "2.jpg"], "thing": ["sofa", "lamp", "sofa"]}
    guess = guess_columns(columns, {"concepts": "thing"})["f"]
    assert guess.roles == ("id", "uri")
    assert "together they are one image" in guess.why


def test_columns_of_0_and_1_are_no_class_and_no_lists():
    columns = {"id": ["a", "b", "c"], "y": ["p", "q", "p"], "cow": ["0", "1", "1"]}
    named = {"id": "id", "class": "y"}
    assert roles(columns, named, ["cow"])["cow"] == ()
    columns["seen"] = ["x;y", "x", "y"]
    assert roles(columns, named, ["cow"]) | {"id": ()} == {
        "id": (),
        "y": ("class",),
        "cow": (),
        "seen": ("concepts",),
    }


cells = st.one_of(st.none(), st.sampled_from(["", "a", "b.png", "a|b", "0", "1.5", "['x']", "é "]))


@given(st.dictionaries(st.text(max_size=3), st.lists(cells, min_size=4, max_size=4), max_size=5))
def test_a_role_has_one_column(columns):
    found = [role for given in roles(columns).values() for role in given]
    assert len(found) == len(set(found))


def test_a_class_that_begins_late_is_seen(tmp_path):
    path = tmp_path / "sorted.csv"
    rows = [f"{row},{'cat' if row < 900 else 'dog'},sofa;lawn\n" for row in range(1500)]
    path.write_text("nr,species,things\n" + "".join(rows))
    assert sample_table(path, "csv").guesses["species"].roles == ("class",)


@pytest.mark.parametrize("name", ["image_path", "img_path", "filepath", "file", "image_url", "url"])
def test_usual_names_of_pictures(tmp_path, name):
    path = tmp_path / "table.csv"
    path.write_text(f"{name},target,keywords\nhttp://a/1,cat,sofa\nhttp://a/2,dog,sofa\n")
    guesses = sample_table(path, "csv").guesses
    assert guesses[name].roles == ("id", "uri")
    assert (guesses["target"].roles, guesses["keywords"].roles) == (("class",), ("concepts",))


def test_y_beside_x_is_a_coordinate():
    assert usual_column("class", ["image", "x", "y"]) is None
    assert usual_column("class", ["image", "y"]) == "y"
