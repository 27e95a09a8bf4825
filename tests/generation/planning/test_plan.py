import pytest

from cobalance.base.errors import OptionError
from cobalance.base.records import PlannedQuery
from cobalance.generation.planning.plan import Plan, PlanOptions


@pytest.mark.parametrize("concepts", [(), ("b", "a"), ("a", "a")])
def test_concepts_of_a_query_ascend(concepts):
    with pytest.raises(OptionError, match="in ascending order, none twice"):
        Plan("conbias", PlanOptions(), (PlannedQuery("x", concepts, 1),))


@pytest.mark.parametrize("n", [0, -3])
def test_a_query_asks_for_images(n):
    with pytest.raises(OptionError, match=f"asks for {n} images"):
        Plan("conbias", PlanOptions(), (PlannedQuery("x", ("a",), n),))


def test_images_by_class():
    queries = (
        PlannedQuery("y", ("a", "b"), 3),
        PlannedQuery("x", ("a", "b"), 1),
        PlannedQuery("y", ("a", "c"), 4),
    )
    made = Plan("conbias", PlanOptions(2, 2), queries)
    assert made.images == 8
    assert list(made.images_by_class().items()) == [("x", 1), ("y", 7)]
