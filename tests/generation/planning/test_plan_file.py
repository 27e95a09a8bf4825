"""Plans as JSON: write then read, and each kind of malformed file."""

import json

import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import InputError
from cobalance.base.records import Edit, PlannedQuery
from cobalance.generation.planning.plan import Plan, PlanOptions
from cobalance.generation.planning.plan_file import plan_from_json, plan_to_json

name = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)


@st.composite
def plans(draw):
    keys = st.tuples(name, st.frozensets(name, min_size=1, max_size=3))
    wanted = draw(st.dictionaries(keys, st.integers(1, 10**12), max_size=5))
    queries = tuple(PlannedQuery(c, tuple(sorted(k)), n) for (c, k), n in wanted.items())
    low, high = sorted(draw(st.tuples(st.integers(1, 6), st.integers(1, 6))))
    limit = st.none() | st.integers(1, 10**12)
    return Plan(draw(name), PlanOptions(low, high, draw(limit), draw(limit)), queries)


def content(**changes) -> str:
    whole = {
        "format": "cobalance-plan",
        "version": 1,
        "planner": "conbias",
        "options": {"min_size": 2, "max_size": 2},
        "queries": [{"class": "urban", "concepts": ["cow", "road"], "n": 3}],
    }
    return json.dumps({key: value for key, value in (whole | changes).items() if value is not None})


def query(**changes) -> list[dict]:
    first = {"class": "urban", "concepts": ["cow", "road"], "n": 3}
    return [{"class": "country", "concepts": ["cow"], "n": 1}, first | changes]


@st.composite
def edits(draw):
    keys = st.tuples(name, name)
    wanted = draw(st.dictionaries(keys, st.frozensets(name, max_size=3), min_size=1, max_size=5))
    captions = st.lists(st.text(st.characters(codec="utf-8"), max_size=9), max_size=3).map(tuple)
    queries = tuple(
        PlannedQuery(c, tuple(sorted(k)), 1, Edit(image, draw(name), draw(captions), draw(name)))
        for (c, image), k in wanted.items()
    )
    own = draw(st.sampled_from([{}, {"groups": ["woman", "man"], "limit": 3}]))
    return Plan(draw(name), PlanOptions(), queries, own)


@given(plans() | edits())
def test_write_then_read(plan):
    written = plan_to_json(plan)
    assert plan_from_json(written) == plan
    assert plan_from_json(written.decode()) == plan
    assert plan_to_json(plan_from_json(written)) == written
    json.loads(written)


def test_bytes_are_stable():
    plan = Plan("conbias", PlanOptions(1, 2), (PlannedQuery("café", ("kuh", "straße"), 3),))
    assert plan_to_json(plan).decode() == (
        '{"format": "cobalance-plan", "version": 1, "planner": "conbias",\n'
        '"options": {"min_size": 1, "max_size": 2},\n'
        '"queries": [\n'
        '{"class": "café", "concepts": ["kuh", "straße"], "n": 3}\n'
        "]}\n"
    )


def test_a_query_that_edits_an_image_says_which():
    edit = Edit("img 7", "a woman rides", ("a woman rides", "on a horse"))
    plan = Plan("resampled", PlanOptions(), (PlannedQuery("woman", (), 1, edit),))
    assert plan_to_json(plan).decode() == (
        '{"format": "cobalance-plan", "version": 1, "planner": "resampled",\n'
        '"queries": [\n'
        '{"class": "woman", "concepts": [], "n": 1, "source_image": "img 7", '
        '"caption": "a woman rides", "captions": ["a woman rides", "on a horse"]}\n'
        "]}\n"
    )


def test_limits_are_written_where_there_are_any():
    query = PlannedQuery("urban", ("cow",), 3)
    limited = plan_to_json(Plan("conbias", PlanOptions(1, 2, 5, 100), (query,))).decode()
    assert (
        '"options": {"min_size": 1, "max_size": 2, "max_per_query": 5, "budget": 100},' in limited
    )
    assert "budget" not in plan_to_json(Plan("conbias", PlanOptions(1, 2), (query,))).decode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "plan.json: invalid JSON: EOF"),
        ("{", "plan.json: invalid JSON"),
        ("[]", "plan.json: input should be an object"),
        (content(format="coco"), "plan.json, format: input should be 'cobalance-plan'"),
        (content(version=2), "plan.json, version: input should be 1 (it is 2)"),
        (content(planner=None), "plan.json, planner: field required. Run `plan(...)` to write"),
        (content(budget=5), "plan.json, budget: extra inputs are not permitted (it is 5)"),
        (content(options={"min_size": 3, "max_size": 2}), "plan.json, options: max_size is 2"),
        (content(options={"min_size": 0, "max_size": 2}), "plan.json, options.min_size: input"),
        (
            content(options={"min_size": 1, "max_size": 2, "budget": 0}),
            "plan.json, options.budget: input should be greater than or equal to 1 (it is 0)",
        ),
        (content(queries={}), "plan.json, queries: input should be a valid array"),
        (content(queries=query(n=0)), "queries[1].n: input should be greater than or equal to 1"),
        (
            content(queries=query(n=2.5)),
            "queries[1].n: input should be a valid integer (it is 2.5)",
        ),
        (
            content(queries=query(n="3")),
            "queries[1].n: input should be a valid integer (it is '3')",
        ),
        (content(queries=query(n=True)), "queries[1].n: input should be a valid integer"),
        (content(queries=query(concepts=[])), "queries[1].concepts: tuple should have at least 1"),
        (content(queries=query(concepts=[""])), "queries[1].concepts[0]: string should have"),
        (content(queries=query(concepts=["b", "a"])), "queries[1]: a query for 'urban' has the"),
        (
            content(queries=query(caption="a dog")),
            "queries[1]: it has captions, and no",
        ),
        (content(queries=query(source_image="")), "queries[1].source_image: string should have"),
        (
            content(queries=[*query(source_image="7"), *query(source_image="7")[1:]]),
            "queries[2]: queries[1] asks for the same class and source image. Keep one",
        ),
        (content(options=None), "plan.json, options: field required. Run `plan(...)` to"),
        (content(options={"min_size": 1}), "plan.json, options.max_size: field required"),
        (content(queries=query(weight=1)), "queries[1].weight: extra inputs"),
        (
            content(queries=query(**{"class": "country", "concepts": ["cow"]})),
            "queries[1]: queries[0] asks for the same class and concepts. Keep one of them",
        ),
    ],
)
def test_malformed(text, message):
    with pytest.raises(InputError) as error:
        plan_from_json(text, file="plan.json")
    assert message in str(error.value)
    assert str(error.value).startswith("plan.json")
    assert "\n" not in str(error.value)


def test_long_values_are_cut_in_messages():
    with pytest.raises(InputError) as error:
        plan_from_json(content(queries="x" * 10_000))
    assert len(str(error.value)) < 250


def test_not_utf_8():
    with pytest.raises(InputError):
        plan_from_json(b'{"format": "\xff"}')


def test_options_of_the_planner_go_with_the_plan():
    query = PlannedQuery("urban", ("cow", "road"), 3)
    made = Plan("mine", PlanOptions(2, 2), (query,), {"share": 0.5, "of": "gap"})
    content = plan_to_json(made)
    assert b'"planner_options": {"share": 0.5, "of": "gap"},' in content
    assert plan_from_json(content) == made


@pytest.mark.parametrize(
    ("proven", "bound", "note"),
    [(True, 2.0, ""), (False, 0.0, "Not proven: “a”, 3."), (None,) * 2 + ("",)],
)
def test_what_is_known_of_a_plan_goes_with_it(proven, bound, note):
    query = PlannedQuery("urban", ("cow",), 3)
    made = Plan("minimal", PlanOptions(1, 2), (query,), {}, proven, bound, note)
    read = plan_from_json(plan_to_json(made))
    assert (read.proven, read.bound, read.note) == (proven, bound, note)
    assert read == made
    assert plan_to_json(read) == plan_to_json(made)
