import io

import pandas as pd
import pytest

from cobalance.annotation.proposing.review import accept_all, read_decisions, review_frame
from cobalance.base.errors import InputError
from cobalance.graph.annotations.attributes import COLUMNS, Decision
from tests.conftest import HOSTILE


def attributes(*keys, state="proposed", into=None):
    row = {"level": "image", "votes": 1, "rounds": 1, "flags": ("a", "b"), "merged_into": into}
    rows = [
        {
            **row,
            "category": one,
            "proposed": two,
            "name": two,
            "caption": f"a {two}",
            "state": state,
        }
        for one, two in keys
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


KNOWN = attributes(("color", "red"), ("color", "crimson"), ("bill", "red"), ("size", "long"))


def decided(*rows):
    frame = review_frame(KNOWN).set_index(["category", "proposed"])
    for key, values in rows:
        for name, value in values.items():
            frame.loc[key, name] = value
    return read_decisions(frame.reset_index().to_csv(index=False), "a.csv", KNOWN)


def test_all_kinds_of_decisions():
    assert decided() == []
    assert decided(
        (("color", "red"), {"decision": " Accept ", "level": "object", "caption": "red bird"}),
        (("color", "crimson"), {"decision": "merge", "into": "red"}),
        (("bill", "red"), {"decision": "rename", "name": "red bill"}),
        (("size", "long"), {"decision": "reject", "name": ""}),
    ) == [
        Decision(("color", "red"), "accepted",
                 changes={"level": "object", "caption": "red bird"}),
        Decision(("color", "crimson"), "merged", ("color", "red")),
        Decision(("bill", "red"), "accepted", changes={"name": "red bill"}),
        Decision(("size", "long"), "rejected"),
    ]  # fmt: skip
    other = decided((("color", "crimson"), {"decision": "merge", "into": "bill / red"}))
    assert other[0].into == ("bill", "red")


@pytest.mark.parametrize(
    ("values", "message"),
    [({"decision": "acept"}, "the decision 'acept' is none"),
     ({"decision": "accept", "name": " "}, "the name is empty"),
     ({"decision": "accept", "level": "pixel"}, "the level 'pixel' is unknown"),
     ({"decision": "accept", "name": "a\x07b"}, "the name holds the control character"),
     ({"decision": "rename"}, "it has no new name"),
     ({"decision": "rename", "name": " long\u200b"}, "it has no new name"),
     ({"decision": "merge", "into": "long "}, "'long' is no other attribute"),
     ({"decision": "merge", "into": "red"}, "'red' is several attributes"),
     ({"decision": "merge"}, "'' is no other attribute")],
)  # fmt: skip
def test_errors_name_the_line(values, message):
    with pytest.raises(InputError, match=rf"a\.csv, line 5: {message}"):
        decided((("size", "long"), values))


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "line 1: there is no column 'category'"),
     ("category;proposed;decision\n", "line 1: there is no column"),
     ("category,proposed,decision\ncolor,green,accept\n", "line 2: .*no attribute 'color / green'"),
     ('category,proposed,decision\n"a\nb",x,\ncolor,red,reject\ncolor,red,accept',
      "line 5: .*a second time"),
     ("category,proposed,decision\ncolor,red,accept,oops\n", "line 2: has 4 cells"),
     ("category,decision,proposed,decision\ncolor,,red,accept\n", "'decision' is there twice"),
     ("category,proposed,decision\ncolor,red,accept\ncolor\n,,,,,\n", None)],
    ids=["empty", "semicolons", "unknown", "twice", "long row", "repeated column", "short rows"],
)  # fmt: skip
def test_tables_that_people_broke(text, message):
    if message is None:
        assert read_decisions(text, "a.csv", KNOWN) == [Decision(("color", "red"), "accepted")]
        return
    with pytest.raises(InputError, match=message):
        read_decisions("\ufeff" + text, "a.csv", KNOWN)


def test_any_names_survive_a_round_trip():
    names = [*HOSTILE, 'comma, "quote"\nline', "=1+1"]
    known = attributes(*((f"of {name}", name.strip()) for name in names))
    frame = pd.read_csv(
        io.StringIO(review_frame(known).to_csv(index=False)), dtype=str, keep_default_na=False
    )
    frame["decision"] = "accept"
    found = read_decisions(frame.to_csv(index=False), "a.csv", known)
    assert found == accept_all(known)
    assert [one.key[1] for one in found] == [name.strip() for name in names]
    assert accept_all(attributes(("a", "b"), state="rejected")) == []
    merged = review_frame(attributes(("a", "b"), state="merged", into=("a", "c")))
    assert merged.loc[0, ["into", "flags"]].tolist() == ["a / c", "a; b"]
