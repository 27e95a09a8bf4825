import numpy as np

from cobalance.app.web.components.imbalance_table import imbalance_columns, imbalance_view
from cobalance.counting.cliques import Cliques
from cobalance.statistics.imbalance import imbalance_table


def test_what_audits_say_has_a_column_where_there_are_audits():
    sizes = {"a": 9, "b": 9}
    cliques = Cliques(
        np.array([[0], [1]]),
        np.array([[5, 7], [1, 3]]),
        np.array([9, 9]),
        ("cow", "road"),
        ("a", "b"),
    )
    frame = imbalance_table(cliques)
    assert "audit" not in imbalance_view(frame, sizes)
    shown = imbalance_view(frame, sizes, audited=["not supported", None])
    assert shown["audit"].tolist() == ["not supported", "-"]
    assert set(shown) <= set(imbalance_columns(list(sizes), 7, 2))
