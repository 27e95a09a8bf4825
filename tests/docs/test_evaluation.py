"""docs/evaluation.md, cell by cell in one namespace."""

from pathlib import Path

from tests.docs.cells import check_page

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_every_cell_runs_and_prints_what_the_page_says(capsys):
    check_page(PAGE, capsys)
