"""What people get wrong in a notebook: one sentence of ours each, which says what to do."""

import os
import re
import subprocess
import sys

import pandas as pd
import pytest

import cobalance as cb
from cobalance.workflows.store import open_store
from tests.contract.syntax import ROOT

MISTAKES = [
    ("cb.read(frame, class_column='lable')", "no column 'lable'. Did you mean 'label'? Its col"),
    ("cb.read(frame, clas_column='label')", "'clas_column'. Did you mean 'class_column'?"),
    ("cb.read({'label': ['a']})", "file is of the type dict, where str | Path | DataFrame is need"),
    ("cb.read('nowhere/cars.csv')", "nowhere/cars.csv: there is no such file. Check the path"),
    ("cb.read(frame[:0])", "frame: has no rows."),
    ("cb.read(frame.assign(label=None))", "row 0: the class is empty (and 3 more like it). Name"),
    ("cb.read(frame, field={'tags': 'bin'})", "What the column 'tags' becomes, 'bin', is none of "),
    ("cb.read()", "It takes: file, input_format, concept_column, name, quiet, id_column, class_co"),
    ("cb.read(frame, class_column='tags', concepts_column='tags')", "'tags' is the column of the "),
    ("cb.read(frame, input_format='coco')", "input_format is of files. Leave it out, or read"),
    ("cb.read('https://example.org/x.csv')", "https://example.org/x.csv: is an address, not a f"),
    ("cb.read(frame, min_score='high')", "min_score is 'high', where float | None is needed."),
    ("cb.read(frame, on_error='ignore')", "on_error is 'ignore', where Optional[Literal['fail', '"),
    ("cb.imbalances(frame)", "data is of the type DataFrame, where Data is needed."),
    ("cb.imbalances(data[:0])", "The dataset has no images. Load some."),
    ("cb.imbalances(data, maxsize=2)", "'maxsize'. Did you mean 'max_size'? It takes: data"),
    ("cb.imbalances(data, max_size='two')", "max_size is 'two', where int is needed."),
    ("cb.imbalances(data, max_size=2.5)", "max_size is 2.5, where int is needed."),
    ("cb.imbalances(data, max_size=0)", "max_size is 0. Give a whole number of 1 or more."),
    ("cb.imbalances(data, common='a')", "common is 'a', where Sequence[str] | None is needed."),
    ("cb.imbalances(data, confidence=95)", "confidence is 95; give a value between 0 and 1"),
    ("cb.imbalances(data, split='tset')", "unknown split 'tset'. Did you mean 'test'?"),
    ("cb.imbalances()", "missing a required argument: 'data'. It takes: data, max_size,"),
    ("found.where(concepts='cwo')", "unknown concept 'cwo'. Did you mean 'cow'? Known: cow, ro"),
    ("found.sort('gpa')", "unknown column 'gpa'. Did you mean 'gap'?"),
    ("found['gpa']", "unknown column 'gpa'. Did you mean 'gap'?"),
    ("found[999]", "There is no row 999. There are"),
    ("found.query('gpa > 1')", "unknown column 'gpa'. Did you mean 'gap'?"),
    ("found.query('gap >')", "'gap >' does not say which rows (invalid syntax"),
    ("found.query('gap + 1')", "does not say which rows"),
    ("found['x':'y']", "There is no row slice('x', 'y', None). There are 3, by number from 0"),
    ("data[1.5]", "There is no image 1.5. There are 4, by number from 0 on."),
    ("data['x':'y']", "There is no image slice('x', 'y', None). There are 4"),
    ("data[[True, False]]", "There is no image [True, False]. There are 4"),
    ("cb.plan(data[:0])", "The dataset has no images. Load some."),
    ("cb.concept_graph(found)", "data is of the type Imbalances, where Data is needed."),
    ("cb.concept_graph(held)", "data is of the type Dataset, where Data is needed."),
    ("data['99']", "unknown image '99'. Known: 0, 1, 2"),
    ("cb.plan(data, 'conbais')", "unknown planner 'conbais'. Did you mean 'conbias'? Known: conb"),
    ("cb.plan(data, tolerence=0.1)", "'tolerence'. Did you mean 'tolerance'? Known: budget"),
    ("cb.plan(data, 'minimal', gpa=1)", "has no option 'gpa'. Did you mean 'gap'? Its options"),
    ("cb.plan(data, bugdet=10)", "'bugdet'. Did you mean 'budget'?"),
    ("cb.plan(data, budget=-1)", "budget is -1; give 1 image or more, or leave it out"),
    ("cb.plan(data, tolerance=2)", "tolerance is 2: input should be less than 1."),
    ("cb.plan(found).edited(frame)", "no column 'class'. Edit one of to_pandas()."),
    ("cb.read_plan('plan.json', data)", "plan.json: there is no such file. Check the path"),
    ("cb.compare(found, other)", "different classes: only"),
    ("cb.weights(data, ['cwo'])", "unknown concept 'cwo'. Did you mean 'cow'?"),
    ("cb.resample(data, 'oversampling')", "Did you mean 'over-sampling'? Known: over-sampling"),
    (
        "cb.evaluate(frame)",
        "predictions: has no column image; its columns: class_name, tags, sp",
    ),
    ("cb.connect('localhost', password='x')", "'localhost' is not an address of a Neo4j server:"),
    ("cb.connect('bolt://127.0.0.1:1', password='x')", "No Neo4j server answers at bolt://127.0."),
    ("cb.connect('')", "'' is not an address of a Neo4j server: it begins with none of bolt,"),
    ("cb.connect('bolt://127.0.0.1:1')", "connect(uri=...) needs password=... with it."),
    ("cb.connect(environment=True)", "connect(): got an unexpected keyword argument 'environmen"),
    ("cb.connect(home=3)", "home is 3, where str | Path | None is needed."),
    ("store['nowhere']", "There is no dataset 'nowhere'."),
    ("store[name[:-1]]", "Did you mean 'test"),
    ("store.load('nowhere.csv')", "nowhere.csv: there is no such file."),
    (
        "store.load(cb.urbancars(), name)",
        "those now loaded from urbancars are others. Name another dataset, or ",
    ),
    (
        "store.load(data, name, replace=True)",
        "load(): got an unexpected keyword argument 'replace'",
    ),
    ("store.load(data, ' ')", "'' cannot name a dataset. A name has 1 to 200 printable characters"),
    ("held.imbalances()", "has not been mined yet. Run `store['test "),
    ("empty.mine()", "The dataset has no images. Load some."),
    ("held.imbalances('cow')", "imbalances(): too many positional arguments. It takes: under_"),
    ("held.imbalances(concept='cow')", "unexpected keyword argument 'concept'. Did you mean 'con"),
    ("held.add_embeddings([[1, 2], [3]], ['0', '1'])", "the array: its rows are not of one leng"),
    ("held.label('owlv2')", "Run `cobalance annotate review 'test mistakes'` first, or name con"),
    ("held.plan()", "has not been mined yet. Run `store['test "),
    ("held.mine(maxsize=2)", "keyword argument 'maxsize'. Did you mean 'max_size'? It"),
    ("held.mine(common=['z'])", "unknown class 'z'. Known: a, b."),
    ("held.compare('nowhere')", "There is no dataset 'nowhere'."),
    ("held.query('images > 3')", "is no name of a saved query, see store.queries(). Ask for im"),
    ("held.query('classes-of-concpt')", "Did you mean 'classes-of-concept'?"),
    ("held.cypher('CREATE (:X)')", "CREATE is refused: it changes the graph"),
    ("held.tag('dusk', ['99'])", "has no image '99'. Nothing was written."),
    ("held.order(recipe='magic')", "unknown recipe 'magic'. Known: alia,"),
    ("held.evaluate(method='erm')", "'method'. Did you mean 'methods'?"),
    ("store.backup('x.zip', datasets='cars')", "'datasets'. It takes: path, *datasets, with_ge"),
    ("store.job('none')", "There is no job 'none'."),
    ("closed.datasets()", "The store is closed. Connect again."),
    ("found.plot(n=0)", "There is nothing to draw: n is 0, of 3 rows."),
    ("cb.plan(found).plot(n=-1)", "There is nothing to draw: n is -1, of"),
    ("found.plto()", "unknown attribute of Imbalances 'plto'. Did you mean 'plot'? Known: bars,"),
    ("store.imbalances()", "unknown attribute of Store 'imbalances'. Known: backup, bars, close"),
    ("store.plot()", "This has no plot of its own. Draw columns of .to_pandas()."),
]


@pytest.fixture(scope="module")
def names(settings, store):
    """What people would have in a notebook."""
    tags = ["cow|road", "cow", "road", "cow"]
    frame = pd.DataFrame({"label": [*"aabb"], "tags": tags, "split": ["train", "test"] * 2})
    data = cb.read(frame)
    opened, closed = cb.Store(store, settings), cb.Store(open_store(settings), settings)
    closed.close()
    name = "test mistakes"
    yield {
        "cb": cb,
        "frame": frame,
        "data": data,
        "found": cb.imbalances(data, max_size=2),
        "other": cb.imbalances(cb.read(frame.assign(label=[*"ccdd"])), max_size=2),
        "store": opened,
        "closed": closed,
        "name": name,
        "held": opened.load(data, name),
        "empty": opened.load(data[:0], f"{name} empty"),
    }
    for left in (name, f"{name} empty"):
        opened.drop(left)


@pytest.mark.parametrize(("code", "said"), MISTAKES, ids=[code for code, _ in MISTAKES])
def test_a_mistake_is_a_sentence_of_ours(names, code, said):
    with pytest.raises(cb.CobalanceError) as caught:
        eval(code, dict(names))
    (line,) = caught.value._render_traceback_()
    assert said in line
    assert re.match(r"\w+Error: ", line)
    assert len(line.splitlines()) == 1


def test_an_interactive_python_prints_that_line_alone():
    ran = subprocess.run(
        [sys.executable, "-i", "-q"],
        input="import cobalance as cb\ncb.read('nowhere.csv')\n1 / 0\n",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    ours, _, theirs = ran.stderr.partition("Traceback")
    assert "InputError: nowhere.csv: there is no such file." in ours
    assert "ZeroDivisionError" in theirs
