"""Write the tables of docs/datasets.md: ``python -m tests.ingest.published.page``."""

import re
from pathlib import Path
from types import ModuleType

from tests.ingest.published import coco, competitions, driving, folders, hubs, masks, tables, tools
from tests.ingest.published.form import FORMS
from tests.ingest.published.not_yet import NOT_YET

PAGE = Path(__file__).parents[3] / "docs/datasets.md"
MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (folders, tables, competitions, coco, driving, masks, tools, hubs)
}


def table_of(module: ModuleType) -> str:
    """The dataset and the command of each form of a module that is read right."""
    rows = [
        f"| {form.title} | `cobalance ingest {form.command}` |"
        for form in FORMS.values()
        if form.name not in NOT_YET and form.module == module.__name__
    ]
    return "\n".join(["| dataset | command |", "| --- | --- |", *rows])


def with_tables(page: str) -> str:
    """The page with a table of today after each of its marks, such as ``<!-- coco -->``."""
    for name, module in MODULES.items():
        mark = f"<!-- {name} -->\n"
        before, found, after = page.partition(mark)
        assert found, mark
        after = re.sub(r"\A(\|.*\n)*", "", after)
        page = f"{before}{mark}{table_of(module)}\n{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
