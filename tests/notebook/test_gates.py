"""`cobalance.gate`: a verdict in a notebook."""

import pytest

import cobalance as cb
from cobalance.base.errors import OptionError
from tests.workflows.gate.drawn import records


@pytest.fixture
def data(tmp_path):
    images = records(0, 400, {"cow": (0.4, 0.1), "road": (0.3, 0.3)})
    lines = [f"{i.id},{i.class_name},{'|'.join(m.concept for m in i.mentions)}" for i in images]
    file = tmp_path / "cars.csv"
    file.write_text("\n".join(["image,class,concepts", *lines]))
    return cb.read(file)


def test_a_verdict_is_a_table_of_findings(data, tmp_path):
    verdict = cb.gate(data)
    assert not verdict.passed
    assert verdict.frame["of"].tolist()[0] == "cow"
    assert verdict.metrics["leaning"] == len(verdict)
    assert "breaks a rule" in verdict._repr_html_()
    assert verdict.to_text("text").startswith("cars.csv breaks a rule")

    verdict.save_baseline(tmp_path / "b.json")
    known = cb.gate(data, baseline=tmp_path / "b.json")
    assert known.passed
    assert set(known.frame["status"]) == {"known"}


def test_rules_are_a_mapping_or_a_file(data, tmp_path):
    assert cb.gate(data, {"leans": [{"min_difference": 0.9}]}).passed
    rules = tmp_path / "rules.toml"
    rules.write_text("[[leans]]\nmin_difference = 0.9\n")
    assert cb.gate(data, rules).passed


def test_what_is_unknown_is_named(data):
    with pytest.raises(OptionError, match="format 'pdf'"):
        cb.gate(data).to_text("pdf")
    with pytest.raises(OptionError, match="split 'train'"):
        cb.gate(data, watch=("train", "test"))
