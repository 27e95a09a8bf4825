"""`cobalance.record` and `cobalance.read_record` in a notebook."""

import pytest

import cobalance as cb
from cobalance.base.errors import InputError
from tests.workflows.gate.drawn import records


@pytest.fixture
def data(tmp_path):
    images = records(0, 400, {"cow": (0.4, 0.1), "road": (0.3, 0.3)})
    lines = [f"{i.id},{i.class_name},{'|'.join(m.concept for m in i.mentions)}" for i in images]
    file = tmp_path / "cars.csv"
    file.write_text("\n".join(["image,class,concepts", *lines]))
    return cb.read(file)


def test_a_record_is_written_and_read_again(data, tmp_path):
    examined = cb.record(data)
    assert examined.frame["concepts"].tolist()[0] == ("cow",)
    assert "cow is in " in examined.sentences[1]
    assert "cars.csv: 2 of 3 combinations lean" in examined._repr_html_()

    examined.save(tmp_path / "bias.json")
    again = cb.read_record(tmp_path / "bias.json")
    assert again.frame.equals(examined.frame)
    mined = cb.imbalances(data, max_size=2, common=())
    assert again.imbalances.frame.equals(mined.frame)


def test_a_card_is_written_as_markdown(data, tmp_path):
    cb.record(data).save(tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text().startswith("## Biases\n")


def test_what_is_no_record_is_refused(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InputError, match="is no bias record"):
        cb.read_record(tmp_path / "a.json")
