"""Names of the concepts that attributes become."""

import pandas as pd

from cobalance.graph.annotations.attributes import COLUMNS
from cobalance.workflows.label.order import concepts_of


def attributes(*rows):
    table = pd.DataFrame(rows, columns=["category", "proposed", "name", "state", "merged_into"])
    return table.reindex(columns=list(COLUMNS))


def test_concepts_tell_categories_apart_and_say_what_is_only_perceived():
    found = concepts_of(
        attributes(
            ("color", "red", "red", "accepted", None),
            ("eye color", "red", "red", "accepted", None),
            ("eye color", "green", "emerald", "accepted", None),
            ("eye color", "dark green", "dark green", "merged", ("eye color", "green")),
            ("perceived age", "young", "young", "accepted", None),
            ("subject", "elderly woman", "elderly woman", "accepted", None),
            ("subject", "old man", "grey hair", "accepted", None),
            ("subject", "perceived age", "perceived age", "accepted", None),
            ("pose", "girl", "girl", "accepted", None),
            ("subject", "girl", "girl", "accepted", None),
            ("habitat", "sea", "sea", "rejected", None),
            ("habitat", "ocean", "ocean", "merged", ("habitat", "sea")),
        )
    )
    assert found == {
        ("color", "red"): "red (color)",
        ("eye color", "red"): "red (eye color)",
        ("eye color", "green"): "emerald",
        ("eye color", "dark green"): "emerald",
        ("perceived age", "young"): "young (perceived age)",
        ("subject", "elderly woman"): "elderly woman (perceived)",
        ("subject", "old man"): "grey hair",
        ("subject", "perceived age"): "perceived age",
        ("pose", "girl"): "girl (perceived, pose)",
        ("subject", "girl"): "girl (perceived, subject)",
    }
