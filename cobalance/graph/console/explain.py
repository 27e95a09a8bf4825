"""Show the plan of EXPLAIN or PROFILE as a table, a row per operator."""

from typing import Any

_ESTIMATED = {"operator": None, "details": "Details", "estimated rows": "EstimatedRows"}
_COUNTED = {"rows": "Rows", "db hits": "DbHits", "memory (bytes)": "Memory"}


def plan_table(
    plan: dict[str, Any], *, is_profile: bool
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the columns and rows of a plan: from the last operator to the first, inputs set in.

    Parameters
    ----------
    plan : dict
        As the driver gives it: ``operatorType``, ``args`` and ``children``.
    is_profile : bool
        With what was counted while it ran.

    Examples
    --------
    >>> scan = {"operatorType": "NodeByLabelScan@neo4j", "args": {"Details": "n:Image"}}
    >>> columns, rows = plan_table(
    ...     {"operatorType": "ProduceResults@neo4j", "args": {}, "children": [scan]},
    ...     is_profile=False,
    ... )
    >>> rows
    [('ProduceResults', None, None), ('NodeByLabelScan', 'n:Image', None)]
    """
    columns = _ESTIMATED | (_COUNTED if is_profile else {})
    rows: list[tuple[Any, ...]] = []
    waiting = [(plan, 0)]
    while waiting:
        step, depth = waiting.pop()
        name = str(step["operatorType"]).partition("@")[0]
        values = [step["args"].get(key) for key in columns.values() if key is not None]
        rows.append(("  " * depth + name, *values))
        # A chain of single inputs reads as a list: only those of an operator with two are set in.
        children = step.get("children") or []
        waiting += [(child, depth + (len(children) > 1)) for child in reversed(children)]
    return tuple(columns), rows
