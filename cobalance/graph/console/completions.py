"""The words that a read-only query is written with, for an editor's completions."""

import re
from typing import Any

from cobalance.graph.database import DATASET, Property, schema

_KEYWORDS = """
    MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, DISTINCT, ORDER BY, ASC, DESC, SKIP, LIMIT,
    UNION, UNION ALL, CALL, YIELD, AS, AND, OR, XOR, NOT, IN, IS NULL, IS NOT NULL, STARTS WITH,
    ENDS WITH, CONTAINS, CASE, WHEN, THEN, ELSE, END, EXISTS, COUNT, COLLECT, true, false, null,
    shortestPath, allShortestPaths, EXPLAIN, PROFILE, SHOW INDEXES, SHOW CONSTRAINTS
"""

KEYWORDS = tuple(re.findall(r"\w+(?: \w+)*", _KEYWORDS))
"""Clauses, operators and constants of a query that reads."""

_FUNCTIONS = """
    count(value) sum(value) avg(value) min(value) max(value) collect(value) stdev(value)
    stdevp(value) percentileCont(value, share) percentileDisc(value, share)

    size(list or text) head(list) last(list) tail(list) reverse(list or text)
    range(start, end, step) reduce(total = start, name IN list | expression)
    all(name IN list WHERE condition) any(name IN list WHERE condition)
    none(name IN list WHERE condition) single(name IN list WHERE condition)
    isEmpty(list, map or text) coalesce(value, …) nullIf(value, other) exists(value)

    labels(node) type(relationship) properties(node) keys(node) elementId(node)
    startNode(relationship) endNode(relationship) nodes(path) relationships(path) length(path)

    abs(number) ceil(number) floor(number) round(number, digits, mode) sign(number) sqrt(number)
    exp(number) log(number) log10(number) e() pi() rand() randomUUID() isNaN(number)
    sin(angle) cos(angle) tan(angle) cot(angle) asin(number) acos(number) atan(number) atan2(y, x)
    degrees(angle) radians(angle) haversin(angle)

    toString(value) toInteger(value) toFloat(value) toBoolean(value) toStringOrNull(value)
    toIntegerOrNull(value) toFloatOrNull(value) toBooleanOrNull(value) toStringList(list)
    toIntegerList(list) toFloatList(list) toBooleanList(list) valueType(value)

    toLower(text) toUpper(text) trim(text) ltrim(text, characters) rtrim(text, characters)
    btrim(text, characters) left(text, length) right(text, length) substring(text, start, length)
    replace(text, search, replacement) split(text, delimiter) char_length(text)
    character_length(text) normalize(text, form)

    timestamp() date(value) datetime(value) time(value) localdatetime(value) localtime(value)
    date.truncate(unit, value) datetime.truncate(unit, value) time.truncate(unit, value)
    localdatetime.truncate(unit, value) localtime.truncate(unit, value)
    datetime.fromepoch(seconds, nanoseconds) datetime.fromepochmillis(milliseconds)
    duration(value) duration.between(from, to) duration.inMonths(from, to)
    duration.inDays(from, to) duration.inSeconds(from, to)

    point(map) point.distance(from, to) point.withinBBox(point, lower left, upper right)
    vector.similarity.cosine(a, b) vector.similarity.euclidean(a, b)
"""

FUNCTIONS = dict(re.findall(r"([\w.]+)\(([^()]*)\)", _FUNCTIONS))
"""The arguments of each function of Neo4j 5 that the console lets through, in words."""


def editor_words() -> dict[str, Any]:
    """Keywords, functions, and the graph's labels and types with their properties, as JSON values.

    Examples
    --------
    >>> editor_words()["types"]["COUNTED_IN"]["properties"]["images"]
    'int, of the class that show all concepts; may be 0'
    >>> editor_words()["functions"]["collect"]
    'value'
    """
    labels = {}
    for node in schema.ALL_NODES:
        if node in schema.COPIES:
            continue
        properties = _properties(node.key, *node.properties)
        if node.scope != "none":
            properties[DATASET] = "str, the name of its dataset"
        labels[node.label] = {"about": node.about, "properties": properties}

    # Several edges have one type, between other kinds of nodes.
    types = dict[str, dict[str, Any]]()
    for edge in schema.EDGES:
        edge_type = types.setdefault(edge.type, {"about": edge.about, "properties": {}})
        edge_type["properties"] |= _properties(*edge.properties)
    return {"keywords": KEYWORDS, "functions": FUNCTIONS, "labels": labels, "types": types}


def _properties(*properties: Property) -> dict[str, str]:
    descriptions = {}
    for declared in properties:
        if declared.name != "digest":
            words = filter(None, (declared.type_name, declared.about))
            descriptions[declared.name] = ", ".join(words)
    return descriptions
