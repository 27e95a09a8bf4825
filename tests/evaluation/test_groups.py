import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import InputError
from cobalance.evaluation.groups import check_groups, group_rows
from cobalance.evaluation.predictions import check_predictions

ROWS = {"image": ["1", "2"], "class_name": ["a", "a"], "predicted": ["a", "b"]}


def test_groups_are_joined_by_image_and_keep_empty_ones():
    groups = pd.DataFrame(
        {"image": [2, 1, 9], "place": ["common", "none", "none"], "sex": ["f", None, "m"]}
    )
    found = group_rows(check_predictions(pd.DataFrame(ROWS)), groups)
    assert [found.names[code] for code in found.codes] == [
        "a, place none, sex none",
        "a, place common, sex f",
    ]
    assert len(found.table) == 3 * 2
    assert found.shortcuts == ["place"]
    assert found.sums(np.array([2.0, 3.0])).sum() == 5


def test_other_columns_of_the_predictions_are_no_shortcuts():
    table = check_predictions(pd.DataFrame({**ROWS, "place": "common", "file": ["x", "y"]}))
    assert group_rows(table).names == ["a, place common", "a, place uncommon"]


def test_what_tells_the_rows_of_a_confusion_table_apart_are_groups():
    rows = [("landbird", "land", 0.99, 300, 1), ("landbird", "water", 0.7, 50, 1)]
    columns = ["class_name", "place", "accuracy", "n", "annotator"]
    table = check_predictions(
        pd.DataFrame(rows, columns=columns).assign(published=0.5, predicted_place="land")
    )
    assert group_rows(table).names == [
        "landbird, place land, annotator 1",
        "landbird, place water, annotator 1",
    ]
    assert group_rows(table, by="shortcuts").names == ["landbird"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"place": ["common"]}, "no column image; its columns: place"),
        ({"image": ["1"], "class_name": ["a"]}, "no column of a shortcut"),
        ({"image": ["1", "1"], "place": "common"}, "row 2: the image '1' has a second row"),
    ],
)
def test_groups_that_cannot_be_used_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        check_groups(pd.DataFrame(columns))
