"""Rules of a gate are read from TOML, and what is no rule is named."""

import pytest

from cobalance.base.errors import InputError
from cobalance.workflows.gate.rules import FILE, Rules, check_rules, read_rules, write_rules


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_file_the_rules_are_the_usual_ones():
    rules, file = read_rules()
    assert (rules, file) == (Rules(), None)
    (leans,) = rules.leans
    assert (leans.max_q, leans.min_difference, leans.max_size) == (0.005, 0.02, 2)


def test_rules_stand_in_a_file_of_their_own_or_in_the_project(working_folder):
    project = working_folder / "pyproject.toml"
    project.write_text("[project]\nname = 'x'\n")
    assert read_rules()[1] is None
    project.write_text("[tool.cobalance.gate]\nmin_class_images = 5\n")
    assert read_rules()[0].min_class_images == 5
    own = working_folder / FILE
    own.write_text("min_class_images = 7\n[[leans]]\nconcepts = ['gender']\nmax_q = 0.1\n")
    rules, file = read_rules()
    assert (rules.min_class_images, file.name) == (7, FILE)
    assert [(rule.concepts, rule.max_q) for rule in rules.leans] == [(("gender",), 0.1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min_class_image = 5", "min_class_image: is no rule. Did you mean 'min_class_images'?"),
        ("[[leans]]\nq = 1", "leans[0].q: is no rule."),
        ("[[leans]]\nmax_q = 2", "leans[0].max_q: input should be less than or equal to 1"),
        ("[[leans]]\nmin_difference = 0", "leans[0].min_difference: input should be greater"),
        ("max_property_auc = 0.2", "max_property_auc: input should be greater than or equal to"),
        ("[coverage]\nage = 1.5", "coverage.age: input should be less than or equal to 1"),
        ("max_bits = 'few'", "max_bits: input should be a valid number"),
        ("max_bits = ", "is not TOML"),
    ],
)
def test_what_is_no_rule_is_named(working_folder, text, message):
    (working_folder / FILE).write_text(text)
    with pytest.raises(InputError) as raised:
        read_rules()
    assert message in str(raised.value).replace(", ", ": ", 1).replace("toml, ", "toml: ")


def test_a_file_that_is_named_has_rules(working_folder):
    project = working_folder / "pyproject.toml"
    project.write_text("[project]\nname = 'x'\n")
    with pytest.raises(InputError, match=r"has no \[tool.cobalance.gate\]"):
        read_rules(project)
    with pytest.raises(InputError, match="cannot be read"):
        read_rules(working_folder / "none.toml")


def test_several_rules_of_leans_each_have_thresholds():
    rules = check_rules({"leans": [{"max_size": 1}, {"concepts": ["age"], "min_images": 3}]})
    assert [rule.max_size for rule in rules.leans] == [1, 2]
    assert [rule.min_images for rule in rules.leans] == [0, 3]


def test_a_rule_with_the_usual_numbers_is_written_with_them():
    usual = {"max_size": 2, "max_q": 0.005, "min_difference": 0.02}
    lines = write_rules(check_rules({"leans": [usual]})).split()
    assert lines == [
        "[[leans]]",
        *["max_size", "=", "2", "max_q", "=", "0.005", "min_difference", "=", "0.02"],
    ]


def test_rules_are_written_as_they_are_read(working_folder):
    rules = check_rules(
        {
            "data": 'a "b".csv',
            "leans": [{"concepts": ["the sea"], "max_q": 0.01}, {"max_size": 1}],
            "min_class_images": 5,
            "separate_splits": True,
            "coverage": {"age of a person": 0.5},
            "read": {"class_column": "label", "keep_class": ["x", "y"]},
        }
    )
    file = working_folder / "written.toml"
    file.write_text(write_rules(rules))
    assert read_rules(file)[0] == rules
