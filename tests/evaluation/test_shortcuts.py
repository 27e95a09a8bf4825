import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import DataError, InputError, OptionError
from cobalance.counting.cliques import Cliques
from cobalance.evaluation.shortcuts import Shortcuts, shortcut_groups
from cobalance.statistics.imbalance import imbalance_table

TOML = """
[background]
urban = ["alley", "gas station"]
country = ["field"]

["co-occurring object"]
urban = ["sign"]
country = ["cow"]
"""


def images(*rows: tuple[str, object]) -> pd.DataFrame:
    table = [(str(number), name, concepts) for number, (name, concepts) in enumerate(rows)]
    return pd.DataFrame(table, columns=["image", "class_name", "concepts"])


def test_groups_of_shortcuts_from_toml(tmp_path):
    path = tmp_path / "shortcuts.toml"
    path.write_text(TOML)
    shortcuts = Shortcuts.from_toml(path)
    assert shortcuts.names == ("background", "co-occurring object")
    assert shortcuts == Shortcuts(
        {
            "background": {"urban": ("alley", "gas station"), "country": ("field",)},
            "co-occurring object": {"urban": ("sign",), "country": ("cow",)},
        }
    )
    table = images(
        ("urban", ("alley", "sign")),
        ("urban", {"field", "cow", "sky"}),
        ("country", ["alley"]),
        ("country", "field|cow"),
        ("country", ("alley", "field")),  # both
        ("village", ("cow",)),  # a class without concepts of its own
        ("urban", ()),
    )
    groups = shortcut_groups(table, shortcuts)
    assert groups["image"].tolist() == list("0123456")
    assert groups["background"].tolist() == [
        *("common", "uncommon", "uncommon", "common", "none", "none", "none"),
    ]
    assert groups["co-occurring object"].tolist() == [
        *("common", "uncommon", "none", "common", "none", "uncommon", "none"),
    ]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("background = 3", InputError, "background is 3: input should be a valid dict"),
        ("[a]\nx = ['b']\ny = 'c'", InputError, r"a\.y is 'c': input should be a valid tuple"),
        ("[a", InputError, "is not TOML"),
        ("# nothing", OptionError, "there are no shortcuts"),
        ("[a]\nx = []", OptionError, "the shortcut a has no concepts"),
        ("[seed]\nx = ['b']", OptionError, "cannot be called 'seed'"),
        ("[p_x]\nx = ['b']", OptionError, "cannot be called 'p_x'"),
        ("[a]\nx = ['b']\ny = ['b']", OptionError, "'b' goes with 'x' and with 'y'"),
    ],
)
def test_files_of_another_form_are_refused(tmp_path, text, error, message):
    path = tmp_path / "shortcuts.toml"
    path.write_text(text)
    with pytest.raises(error, match=message):
        Shortcuts.from_toml(path)


def imbalances(sizes: list[int], **counts: list[int]) -> pd.DataFrame:
    """A table of single concepts, and of one pair that leans, too."""
    names = tuple(counts)
    cliques = [[row, -1] for row in range(len(names))] + [[0, 1]]
    table = [*counts.values(), [min(pair) for pair in zip(*list(counts.values())[:2], strict=True)]]
    classes = tuple("abc"[: len(sizes)])
    return imbalance_table(
        Cliques(np.array(cliques), np.array(table), np.array(sizes), names, classes)
    )


def test_leaning_concepts_become_one_shortcut():
    table = imbalances([100, 100], cow=[40, 2], sign=[1, 30], sky=[50, 52], alley=[9, 40])
    shortcuts = Shortcuts.from_imbalances(table)
    assert shortcuts.concepts == {"concepts": {"a": ("cow",), "b": ("sign", "alley")}}
    each = Shortcuts.from_imbalances(table, each=True)
    assert each.concepts == {
        "cow": {"a": ("cow",)},
        "sign": {"b": ("sign",)},
        "alley": {"b": ("alley",)},
    }
    groups = shortcut_groups(images(("a", ("cow", "sky")), ("b", ("cow",)), ("a", ("sky",))), each)
    assert groups["cow"].tolist() == ["common", "uncommon", "none"]


def test_concepts_lean_by_rate_where_classes_differ_in_size():
    table = imbalances([1000, 50], cow=[40, 30], sky=[20, 1], tie=[30, 30])
    assert table["over_represented"].iloc[0] == "a"  # by count
    assert Shortcuts.from_imbalances(table).concepts == {"concepts": {"b": ("cow", "tie")}}


def test_three_classes():
    table = imbalances([100, 100, 100], cow=[40, 2, 3], sky=[1, 1, 1], tie=[0, 5, 60])
    found = Shortcuts.from_imbalances(table).concepts
    assert found == {"concepts": {"a": ("cow",), "c": ("tie",)}}


def test_balanced_concepts_are_no_shortcuts():
    with pytest.raises(DataError, match="no concept leans to a class"):
        Shortcuts.from_imbalances(imbalances([100, 100], cow=[10, 10], sky=[4, 5]))
