import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import InputError
from cobalance.evaluation.predictions import (
    check_predictions,
    class_columns,
    known_rows,
    read_predictions,
    runs,
)

TABLE = {"image": ["1", "2"], "class_name": ["cat", "dog"], "predicted": ["cat", "cat"]}


def refused(columns: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_predictions(pd.DataFrame(columns))


def test_types_order_and_defaults():
    table = pd.DataFrame(
        {
            "p_cat": [1, 0],
            "pred": pd.Categorical(["cat", "dog"]),
            "note": [None, "x"],
            "label": ["cat", "dog"],
            "id": [7, 8],
        },
        index=[5, 5],
    )
    checked = check_predictions(table)
    assert list(checked) == [
        *("image", "class_name", "predicted", "method", "seed", "n"),
        *("p_cat", "note"),
    ]
    assert checked["image"].tolist() == ["7", "8"]
    assert checked["seed"].tolist() == [0, 0]
    assert checked["n"].tolist() == [1.0, 1.0]
    assert checked.index.tolist() == [0, 1]
    pd.testing.assert_frame_equal(check_predictions(checked), checked)
    assert list(table) == ["p_cat", "pred", "note", "label", "id"]


def test_numbers_as_names():
    floats = {"image": [1.0, 2.0], "class_name": [0.0, 1.0], "predicted": [1, 0]}
    for table in (pd.DataFrame(floats), pd.DataFrame(floats).astype("str")):  # CSV's are text
        checked = check_predictions(table)
        assert checked["image"].tolist() == ["1", "2"]
        assert checked["class_name"].tolist() == ["0", "1"]
        assert checked["predicted"].tolist() == ["1", "0"]
    versions = {"image": ["1.0", "v2.0"], "class_name": ["1.5", "1.0"], "predicted": ["1.5", "1.0"]}
    assert check_predictions(pd.DataFrame(versions))["class_name"].tolist() == ["1.5", "1.0"]


def test_classes_that_are_spelled_otherwise_are_not_wrong_predictions():
    refused(
        {"image": [1, 2], "class_name": [0, 1], "predicted": [True, False]},
        r"no predicted class \('False', 'True'\) is the class of an image \('0', '1'\)",
    )
    refused({"image": [1], "class_name": "Cat", "predicted": " cat"}, "no predicted class .' cat'")
    wrong = {"image": [1, 2], "class_name": ["cat", "cow"], "predicted": ["dog", "ape"]}
    assert len(check_predictions(pd.DataFrame(wrong))) == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_index_that_pandas_wrote_is_no_column(tmp_path, ending):
    frame = pd.DataFrame(TABLE, index=pd.Index([5, 3]))
    path = tmp_path / f"predictions.{ending}"
    frame.to_csv(path) if ending == "csv" else frame.to_parquet(path)
    expected = check_predictions(pd.DataFrame(TABLE))
    pd.testing.assert_frame_equal(read_predictions(path), expected)
    in_a_notebook = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    pd.testing.assert_frame_equal(check_predictions(in_a_notebook), expected)


def test_ids_of_another_form_are_shown():
    images = pd.Series(["1.jpg", "2.jpg"])
    with pytest.raises(InputError, match=r"2 images missing .* there, ids are such as '1'"):
        known_rows(images, pd.Series(["1", "2"]), "predictions")
    with pytest.raises(InputError, match=r"1 image missing from groups: '2.jpg'\. Add"):
        known_rows(images, images[:1], "predictions")


def test_the_most_probable_class_is_predicted():
    columns = {"image": [1, 2, 3], "class_name": "cat", "p_cat": [0.1, 0.5, 1], "p_dog": 0.5}
    assert check_predictions(pd.DataFrame(columns))["predicted"].tolist() == ["dog", "cat", "cat"]


def test_counts_of_a_confusion_table_need_no_images():
    columns = {"class_name": ["a", "a"], "predicted": ["a", "b"], "n": ["3", "0"]}
    checked = check_predictions(pd.DataFrame(columns))
    assert checked["n"].tolist() == [3.0, 0.0]
    assert checked["image"].is_unique


def test_accuracies_become_rows_that_are_right_and_wrong():
    columns = {"class_name": ["a", "b"], "accuracy": [0.975, 1], "n": [200, 3], "place": "common"}
    checked = check_predictions(pd.DataFrame(columns))
    right = checked["class_name"] == checked["predicted"]
    assert checked["n"][right].tolist() == pytest.approx([195, 3])
    assert checked["n"][~right].tolist() == pytest.approx([5, 0])
    assert (checked["place"] == "common").all()
    refused({**columns, "accuracy": [97.5, 1]}, "row 1: accuracy is 97.5, which is more than 1")
    refused({"class_name": ["a"], "accuracy": [1], "image": ["1"]}, "no column n; its columns")


def test_several_labels_an_image_need_no_class():
    columns = {"image": [1, 2], "y_cup": [1, 0], "p_cup": [0.5, 0.5], "y_dog": [0, 1]}
    checked = check_predictions(pd.DataFrame(columns))
    assert class_columns(checked, "y_") == ["cup", "dog"]
    assert class_columns(checked) == ["cup"]
    refused({**columns, "y_cup": [1, 2]}, r"row 2: y_cup is 2\.0, which is neither 0 nor 1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image": None}, "no column image; its columns: class_name, predicted"),
        ({"class_name": None}, "no column class_name"),
        ({"predicted": None}, "no column predicted.*or columns p_<class>"),
        ({"predicted": ["cat", None]}, "row 2: predicted is (nan|None), which is empty"),
        ({"class_name": ["", "  "]}, r"row 1: class_name is '', which is empty \(2 rows"),
        ({"p_cat": [0.1, np.nan]}, "row 2: p_cat is nan, which is not a finite number"),
        ({"p_cat": [np.inf, 1]}, "row 1: p_cat is inf"),
        ({"p_cat": ["high", 1]}, "row 1: p_cat is 'high', which is not a finite number"),
        ({"seed": [0, 0.5]}, "row 2: seed is 0.5, which is not a whole number"),
        ({"n": [1, -1]}, "row 2: n is -1, which is less than 0"),
        ({"n": [1, 1e300]}, r"row 2: n is 1e\+300, which is more images than can be counted"),
        ({"image": ["1", "1"]}, "row 2: the image '1' is predicted twice by method '', seed 0"),
    ],
)
def test_what_cannot_be_used_is_named(change, message):
    columns = {name: column for name, column in (TABLE | change).items() if column is not None}
    refused(columns, message)


def test_no_rows_and_double_columns_are_refused():
    refused({name: [] for name in TABLE}, "predictions: has no rows")
    double = pd.DataFrame([["1", "a", "a", "a"]], columns=[*TABLE, "image"])
    with pytest.raises(InputError, match="two columns 'image'"):
        check_predictions(double)


def test_runs_keep_their_order():
    table = pd.DataFrame({**TABLE, "image": ["1", "1"], "method": ["z", "a"], "seed": ["3", "3"]})
    found = [(method, seed, len(rows)) for method, seed, rows in runs(check_predictions(table))]
    assert found == [("z", 3, 1), ("a", 3, 1)]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_text_files_keep_names_as_they_are(tmp_path, separator):
    path = tmp_path / "predictions.csv"
    lines = [
        ["image", "class_name", "predicted", "p_NA"],
        ["007", "NA", "None", "0.25"],
        ["1e3", '"a,b;c\td"', "NA", "1"],
    ]
    text = "\ufeff" + "\n".join(separator.join(line) for line in lines)
    path.write_text(text, encoding="utf-8")
    found = read_predictions(path)
    assert found["image"].tolist() == ["007", "1e3"]
    assert found["class_name"].tolist() == ["NA", "a,b;c\td"]
    assert found["predicted"].tolist() == ["None", "NA"]
    assert found["p_NA"].tolist() == [0.25, 1]


def test_parquet(tmp_path):
    path = tmp_path / "predictions"
    table = check_predictions(pd.DataFrame({**TABLE, "seed": [1, 2], "p_cat": [0.5, 1]}))
    table.set_index("image").reset_index().to_parquet(path)
    pd.testing.assert_frame_equal(read_predictions(path), table)


def test_files_that_are_no_tables_are_refused(tmp_path):
    path = tmp_path / "predictions.csv"
    with pytest.raises(InputError, match="there is no such file"):
        read_predictions(path)
    path.write_text("image,class_name\n1,a\n1,a,b,c\n")
    with pytest.raises(InputError, match=r"cannot be read as a table \(.*line 3"):
        read_predictions(path)
    path.write_bytes(b"image,class_name,predicted\n1,\xff,b\n")
    with pytest.raises(InputError, match="cannot be read as a table"):
        read_predictions(path)
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match="cannot be read as a table"):
        read_predictions(path)
    path.write_text("image,class_name,predicted\n1,a,b\n1,a,b\n")
    with pytest.raises(InputError, match=r"predictions\.csv, row 2: the image '1' is predicted tw"):
        read_predictions(path)


def test_an_empty_file_is_to_have_predictions(tmp_path):
    (tmp_path / "empty.csv").write_text("\n")
    with pytest.raises(InputError, match=r"is empty\. Name a file with predictions"):
        read_predictions(tmp_path / "empty.csv")


def test_percentages_and_capitals():
    table = pd.DataFrame(
        {"Class": ["Cat", "Dog"], "Accuracy_Percent": ["98", "84.5"], "N": [100, 200], "P_x": 1}
    )
    checked = check_predictions(table)
    right = checked[checked["class_name"] == checked["predicted"]]
    assert right.set_index("class_name")["n"].to_dict() == {"Cat": 98, "Dog": 169}
    assert "P_x" in checked
    refused({"class": ["a"], "accuracy": [98], "n": [1]}, "name percentages accuracy_percent")
    refused({"class": ["a"], "accuracy_percent": [101], "n": [1]}, "is more than 100")
    refused({"ID": ["1"], "Id": ["2"], "class": ["a"], "predicted": ["a"]}, "two columns 'id'")
