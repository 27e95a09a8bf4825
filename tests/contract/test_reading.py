"""Function bodies read no worse than they did: paragraphs, comments, names, steps."""

import pytest

from tests.contract import reading


@pytest.mark.parametrize("name", reading.recorded())
def test_no_figure_gets_worse(name: str) -> None:
    """What is worse is found by `python -m tests.contract.reading`; docs/style.md says the cure."""
    before, today = reading.recorded()[name], reading.measure()[name]
    assert not reading.is_worse(name, today, before), f"{name}: {before} before, {today} now"


def test_figures_are_those_of_the_product() -> None:
    assert reading.recorded().keys() == reading.measure().keys()


def test_a_paragraph_or_a_comment_makes_a_long_body_airy() -> None:
    calls = [f"step_{number}()" for number in range(reading.SOLID_LINES)]
    for lines, is_solid in (
        (calls, True),
        (calls[:-1], False),
        ([*calls[:9], "", *calls[9:]], False),
        ([*calls[:9], "# Why nine.", *calls[9:]], False),
    ):
        function = reading.Function("a module", tuple(lines), len(calls))
        assert function.is_solid is is_solid
