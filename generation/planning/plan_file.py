"""Plan files: JSON with stable bytes, every value checked on reading."""

import json
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from generation.planning.plan import GenerationQuery, Plan, PlanOptions
from graph.errors import Action, InputError, OptionError
from graph.options import first_fault

FORMAT = "cobalance-plan"
VERSION = 1

Name = Annotated[str, Field(min_length=1)]
REMEDY = (Action("plan", ...), " to write it again, or correct the file.")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Options(_Strict):
    min_size: Annotated[int, Field(ge=1)]
    max_size: Annotated[int, Field(ge=1)]
    max_per_query: Annotated[int, Field(ge=1)] | None = None
    budget: Annotated[int, Field(ge=1)] | None = None


class _Query(_Strict):
    class_name: Annotated[Name, Field(validation_alias=AliasChoices("class", "class_name"))]
    concepts: Annotated[tuple[Name, ...], Field(min_length=1)]
    n: Annotated[int, Field(ge=1)]


class _PlanFile(_Strict):
    format: Literal["cobalance-plan"]
    version: Literal[1]
    planner: Name
    options: _Options
    planner_options: dict[str, Any] = Field(default_factory=dict)
    queries: tuple[_Query, ...]


def plan_to_json(plan: Plan) -> bytes:
    """Serialise a plan as UTF-8 JSON, one query per line; equal plans give equal bytes.

    Options that set no limit, or are the planner's defaults, are left out.

    Examples
    --------
    >>> plan = Plan("conbias", PlanOptions(2, 2), (GenerationQuery("urban", ("cow", "road"), 3),))
    >>> print(plan_to_json(plan).decode(), end="")
    {"format": "cobalance-plan", "version": 1, "planner": "conbias",
    "options": {"min_size": 2, "max_size": 2},
    "queries": [
    {"class": "urban", "concepts": ["cow", "road"], "n": 3}
    ]}
    """
    options = {"min_size": plan.options.min_size, "max_size": plan.options.max_size}
    limits = {"max_per_query": plan.options.max_per_query, "budget": plan.options.budget}
    options |= {name: limit for name, limit in limits.items() if limit is not None}
    head = {"format": FORMAT, "version": VERSION, "planner": plan.planner}
    queries = ",\n".join(
        _dump({"class": query.class_name, "concepts": query.concepts, "n": query.n})
        for query in plan.queries
    )
    own = f'"planner_options": {_dump(plan.planner_options)},\n' if plan.planner_options else ""
    text = f'{_dump(head)[:-1]},\n"options": {_dump(options)},\n{own}"queries": [\n{queries}\n]}}\n'
    return text.encode()


def plan_from_json(content: bytes | str, *, file: str = "plan") -> Plan:
    """Read a plan written by `plan_to_json`, possibly edited by hand.

    ``class_name``, as earlier versions wrote it, means ``class``.

    Parameters
    ----------
    content : bytes or str
        The file's content.
    file : str
        Its name, for messages.

    Raises
    ------
    InputError
        Not JSON, a field that is missing, unknown or of the wrong type, a version other than 1,
        concepts that are not in ascending order, or two queries for the
        same class and concepts. The message names the first problem.

    Examples
    --------
    >>> plan_from_json('{"format": "cobalance-plan", "version": 1, "planner": "conbias", '
    ...                '"options": {"min_size": 2, "max_size": 2}, '
    ...                '"queries": [{"class": "urban", "concepts": ["cow"], "n": 0}]}')
    Traceback (most recent call last):
    ...
    graph.errors.InputError: plan, queries[0].n: input should be greater than or equal to 1 (it is \
0). Run `plan(...)` to write it again, or correct the file.
    """
    try:
        raw = _PlanFile.model_validate_json(content)
    except ValidationError as error:
        raise _input_error(file, error) from error
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    queries = []
    for position, query in enumerate(raw.queries):
        record = f"queries[{position}]"
        try:
            queries.append(GenerationQuery(query.class_name, query.concepts, query.n))
        except OptionError as error:
            raise InputError(file, record, str(error), REMEDY) from error
        first = seen.setdefault((query.class_name, query.concepts), position)
        if first != position:
            reason = f"queries[{first}] asks for the same class and concepts"
            raise InputError(file, record, reason, "Keep one of them, with the sum of their n.")
    try:
        options = PlanOptions(**raw.options.model_dump())
    except OptionError as error:
        raise InputError(file, "options", str(error), REMEDY) from error
    return Plan(raw.planner, options, tuple(queries), raw.planner_options)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _input_error(file: str, error: ValidationError) -> InputError:
    fault = first_fault(error)
    value = repr(fault.value)
    found = "" if fault.kind in ("missing", "json_invalid") else f" (it is {value:.60})"
    return InputError(file, fault.place or None, fault.reason + found, REMEDY)
