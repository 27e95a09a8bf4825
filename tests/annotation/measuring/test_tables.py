"""The means of published tables (GELDA, tables 1 and S4)."""

import pandas as pd
import pytest

from cobalance.annotation.measuring.tables import macro_table, read_macro_table
from cobalance.graph.errors import InputError

PUBLISHED = {
    "DeepFashion": {
        "BLIP": "80 76 94 69 71 69 64 91 92 87 94 81 48 70 66 86 60 93 86 59 92 93 87 82 75 53",
        "OWLv2": "84 61 90 55 65 35 68 96 93 67 82 49 24 58 61 44 46 83 74 44 89 74 83 43 54 58",
    },
    "CelebA": {
        "BLIP": "33 61 77 34 97 90 60 43 92 96 73 83 71 60 66 99 90 94 83 25 "
        "99 56 80 42 72 58 74 47 62 68 89 96 70 91 91 97 90 81 90 88",
        "OWLv2": "87 68 42 36 96 79 61 53 69 91 62 69 70 61 80 99 97 90 75 44 "
        "97 57 92 32 95 52 58 42 67 51 83 54 45 78 91 96 92 75 94 39",
    },
}
MEANS = {("DeepFashion", "BLIP"): 0.776, ("DeepFashion", "OWLv2"): 0.646,
         ("CelebA", "BLIP"): 0.742, ("CelebA", "OWLv2"): 0.705}  # fmt: skip
TABLE_1 = {("DeepFashion", "BLIP"): 0.78, ("DeepFashion", "OWLv2"): 0.65,
           ("CelebA", "BLIP"): 0.74, ("CelebA", "OWLv2"): 0.71}  # fmt: skip


def test_means_of_the_published_aucs(tmp_path):
    frames = [
        pd.DataFrame(
            {"dataset": name}
            | {model: [int(value) / 100 for value in text.split()] for model, text in of.items()}
        )
        for name, of in PUBLISHED.items()
    ]
    path = tmp_path / "s4.csv"
    pd.concat(frames).rename_axis("attribute").reset_index().drop(columns="attribute").to_csv(
        path, index=False
    )
    found = read_macro_table(path).set_index(["dataset", "model"])
    assert set(found.index) == set(MEANS)
    for key, mean in MEANS.items():
        assert found.loc[key, "macro"] == pytest.approx(mean, abs=0.0005)
        assert found.loc[key, "macro"] == pytest.approx(TABLE_1[key], abs=0.01)
    assert found["attributes"].tolist() == [26, 26, 40, 40]


# GELDA's table S5: mean AUCs of CUB's categories, in percent, of 15 colours or fewer attributes.
CUB = {
    "BLIP": "79 74 78 71 78 77 77 65 63 77 73 58 78 79 72 76 58 59 57 60 60 58 65 68 55 60 54 55",
    "OWLv2": "71 72 76 66 69 71 70 65 67 71 66 64 68 74 64 67 56 57 58 58 55 55 68 68 55 57 55 53",
}
CUB_ATTRIBUTES = [15] * 11 + [14] + [15] * 4 + [11, 4, 4, 4, 4, 4, 14, 5, 3, 9, 5, 6]


def test_a_mean_of_several_attributes_counts_as_so_many():
    table = pd.DataFrame(
        {name: [int(value) / 100 for value in text.split()] for name, text in CUB.items()}
    ).assign(attributes=CUB_ATTRIBUTES)
    found = macro_table(table).set_index("model")
    assert found["attributes"].tolist() == [312, 312]
    assert found.loc["BLIP", "macro"] == pytest.approx(0.70, abs=0.01)
    assert found.loc["OWLv2", "macro"] == pytest.approx(0.67, abs=0.01)


def test_attributes_without_a_value_are_left_out_and_counted():
    found = macro_table(pd.DataFrame({"m": [0.5, None, 1.0]}))
    assert found.to_dict("records") == [
        {"dataset": "", "model": "m", "macro": 0.75, "attributes": 2, "left_out": 1}
    ]


@pytest.mark.parametrize("content", ["", "a,b\nx,y\n"])
def test_a_file_without_numbers_is_refused(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InputError):
        read_macro_table(path)
