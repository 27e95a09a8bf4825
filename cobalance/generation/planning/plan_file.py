"""Plan files: JSON with stable bytes, every value checked on reading."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cobalance.base import Action, Edit, InputError, OptionError, PlannedQuery, first_fault
from cobalance.generation.planning.plan import Plan, PlanOptions, check_query

FORMAT = "cobalance-plan"
VERSION = 1

Name = Annotated[str, Field(min_length=1)]
REMEDY = (Action("plan", ...), " to write it again, or correct the file.")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Options(_Strict):
    min_size: Annotated[int, Field(ge=1)]
    max_size: Annotated[int, Field(ge=1)] | None = None
    max_per_query: Annotated[int, Field(ge=1)] | None = None
    budget: Annotated[int, Field(ge=1)] | None = None


class _Query(_Strict):
    class_name: Annotated[Name, Field(validation_alias="class")]
    concepts: tuple[Name, ...]
    n: Annotated[int, Field(ge=1)]
    sources: tuple[Name, ...] = ()
    source_image: Name | None = None
    caption: str = ""
    captions: tuple[str, ...] = ()
    own_group: str = ""

    @property
    def edit(self) -> Edit | None:
        if self.source_image is None:
            return None
        return Edit(self.source_image, self.caption, self.captions, self.own_group)


class _PlanFile(_Strict):
    format: Literal["cobalance-plan"]
    version: Literal[1]
    planner: Name
    options: _Options | None = None
    planner_options: dict[str, Any] = Field(default_factory=dict)
    proven: bool | None = None
    bound: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    note: str = ""
    summary: dict[str, Any] = Field(default_factory=dict)
    queries: tuple[_Query, ...]


def plan_to_json(plan: Plan, summary: Mapping[str, Any] | None = None) -> bytes:
    """Serialise a plan as UTF-8 JSON, one query per line; equal plans give equal bytes.

    Options that set no limit, or are the planner's defaults, are left out; so are all of them
    where every query edits an image, as they are about cliques. Only planners that know how good
    their plan is have ``proven``, ``bound`` and ``note``.

    Parameters
    ----------
    summary : mapping, optional
        What people want to know of the plan, such as how many images were left out; JSON values.
        Reading leaves it out.

    Examples
    --------
    >>> plan = Plan("conbias", PlanOptions(2, 2), (PlannedQuery("urban", ("cow", "road"), 3),))
    >>> print(plan_to_json(plan).decode(), end="")
    {"format": "cobalance-plan", "version": 1, "planner": "conbias",
    "options": {"min_size": 2, "max_size": 2},
    "queries": [
    {"class": "urban", "concepts": ["cow", "road"], "n": 3}
    ]}
    """
    options, own_options = _drop_none(asdict(plan.options)), dict(plan.planner_options)
    lines: list[dict[str, Any]] = [
        {"format": FORMAT, "version": VERSION, "planner": plan.planner},
        {"options": options} if options else {},
        {"planner_options": own_options} if own_options else {},
        _drop_none({"proven": plan.proven, "bound": plan.bound, "note": plan.note or None}),
        {} if summary is None else {"summary": summary},
    ]

    # Each line is a part of one JSON object, so that it loses its braces.
    head = "".join(f"{_dump(line)[1:-1]},\n" for line in lines if line)
    queries = ",\n".join(_dump(_query_values(query)) for query in plan.queries)
    return f'{{{head}"queries": [\n{queries}\n]}}\n'.encode()


def _drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _query_values(query: PlannedQuery) -> dict[str, Any]:
    class_name, concepts, n, edit, sources = query
    values = {"class": class_name, "concepts": concepts, "n": n}
    optional: dict[str, Any] = {"sources": sources}
    if edit is not None:
        optional |= asdict(edit)
    return values | {name: value for name, value in optional.items() if value}


def plan_from_json(content: bytes | str, *, file: str = "plan") -> Plan:
    """Read a plan written by `plan_to_json`, possibly edited by hand.

    Parameters
    ----------
    file : str
        Its name, for messages.

    Raises
    ------
    InputError
        Not JSON, a field that is missing, unknown or of the wrong type, a version other than 1,
        concepts that are not in ascending order, captions or an own group without an image to edit,
        or two queries for the same class and concepts or image. The message names the first one.
    """
    try:
        raw = _PlanFile.model_validate_json(content)
    except ValidationError as error:
        fault = first_fault(error)
        reason = fault.reason
        # A file that is no JSON, or lacks a field, has no value to show.
        if fault.kind not in ("missing", "json_invalid"):
            reason += f" (it is {fault.value!r:.60})"
        raise InputError(file, fault.place or None, reason, REMEDY) from error

    is_of_cliques = not raw.queries or any(query.source_image is None for query in raw.queries)
    if is_of_cliques and (raw.options is None or raw.options.max_size is None):
        place = "options" if raw.options is None else "options.max_size"
        raise InputError(file, place, "field required", REMEDY)

    first_of: dict[tuple[str, tuple[str, ...] | str], int] = {}
    queries = []
    for position, query in enumerate(raw.queries):
        record = f"queries[{position}]"
        queries.append(_read_query(query, file, record))
        key = query.class_name, query.source_image or query.concepts
        first = first_of.setdefault(key, position)
        if first != position:
            shared = "concepts" if query.edit is None else "source image"
            reason = f"queries[{first}] asks for the same class and {shared}"
            raise InputError(file, record, reason, "Keep one of them, with the sum of their n.")

    try:
        options = PlanOptions(**({} if raw.options is None else raw.options.model_dump()))
    except OptionError as error:
        raise InputError(file, "options", str(error), REMEDY) from error

    return Plan(
        planner=raw.planner,
        options=options,
        queries=tuple(queries),
        planner_options=raw.planner_options,
        proven=raw.proven,
        bound=raw.bound,
        note=raw.note,
    )


def _read_query(query: _Query, file: str, record: str) -> PlannedQuery:
    """Check a query of a file by itself.

    Raises
    ------
    InputError
        It asks for nothing, or has fields of an edit without an image to edit.
    """
    if not query.concepts and query.edit is None:
        reason = "tuple should have at least 1 item where no source_image is edited"
        raise InputError(file, f"{record}.concepts", reason, REMEDY)
    planned = PlannedQuery(query.class_name, query.concepts, query.n, query.edit, query.sources)
    try:
        check_query(planned)
    except OptionError as error:
        raise InputError(file, record, str(error), REMEDY) from error

    if query.edit is None and (query.caption or query.captions or query.own_group):
        extra = "an own_group" if query.own_group else "captions"
        reason = f"it has {extra}, and no source_image to edit"
        raise InputError(file, record, reason, REMEDY)
    return planned


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
