"""Python for notebooks needs neither Streamlit nor Typer."""

from tests.app.cli.calling import run_code
from tests.browser.server import environment_of

CODE = '''
import sys

class Refused:
    """Finds no front end's framework."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("streamlit", "typer"):
            raise ModuleNotFoundError(f"{name} cannot be imported here", name=name)

sys.meta_path.insert(0, Refused())

import pandas as pd
import cobalance as cb

rows = [("farm", "cow|field")] * 4 + [("farm", "road")] * 2
rows += [("town", "cow|field")] + [("town", "road")] * 5
data = cb.read(pd.DataFrame(rows, columns=["label", "objects"]))
store = cb.connect(quiet=True)
tour = store.load(data, DATASET)
found = tour.mine(max_size=2).imbalances(concepts="cow")
print(len(found.frame), tour.plan("conbias", min_size=1).images)
print(cb.plan(cb.imbalances(data), min_size=1).images)
assert not {"streamlit", "typer"} & set(sys.modules)
for name in cb.__all__:
    getattr(cb, name)
'''


def test_a_notebook_loads_mines_and_plans_without_them(settings, store, dataset):
    code = CODE.replace("DATASET", repr(dataset))
    assert run_code(environment_of(settings), code).split() == ["2", "6", "6"]
