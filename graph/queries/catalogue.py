"""Named Cypher reads: each with its purpose, parameters and columns, all run by one test."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from graph.database import schema
from graph.database.schema import Node
from graph.errors import OptionError, UnknownNameError
from graph.registry import Registry

MAX_SIZE = 4  # the largest clique that is counted straight from the images


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query.

    Parameters
    ----------
    purpose : str
        What it selects.
    type : type
        ``str``, ``int``, ``float`` or ``list`` (of names).
    default : object
        Its value when not given. `REQUIRED` means that it must be given.
    names : Node or None
        The kind of node that its value, or each of its values, is the name of.
    """

    purpose: str
    type: type = str
    default: Any = None
    names: Node | None = None


REQUIRED: Any = object()


@dataclass(frozen=True)
class CatalogueQuery:
    """A named read.

    Parameters
    ----------
    name : str
        As typed on the command line.
    purpose : str
        The question that it answers, in one sentence.
    text : str
        Cypher that only reads.
    columns : tuple of str
        What it returns.
    parameters : mapping of str to Parameter
        ``dataset`` is always one of them.
    scans_images : bool
        Whether its time grows with the number of images in the dataset.
    reads_cliques : bool
        Whether it reads what mining wrote, and so needs it to be up to date.
    """

    name: str
    purpose: str
    text: str
    columns: tuple[str, ...]
    parameters: dict[str, Parameter] = field(default_factory=dict)
    scans_images: bool = False
    reads_cliques: bool = False

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Give a value to every parameter: the given one, of the declared type, or the default.

        Raises
        ------
        OptionError
            One is unknown, missing, or of another type; the message says how to give it.

        Examples
        --------
        >>> CATALOGUE["classes"].bind({"dataset": "birds"})
        {'dataset': 'birds'}
        >>> CATALOGUE["rare-concepts"].bind({"dataset": "birds", "max_images": "few"})
        Traceback (most recent call last):
        ...
        graph.errors.OptionError: rare-concepts: max_images is 'few'; it takes a whole number.
        """
        for name in given:
            if name not in self.parameters:
                raise UnknownNameError(f"parameter of {self.name}", name, self.parameters)
        bound = {}
        for name, parameter in self.parameters.items():
            value = given.get(name, parameter.default)
            if value is REQUIRED:
                raise OptionError(
                    f"{self.name} needs {name}: {parameter.purpose}. Give it with "
                    f"--param {name}=VALUE."
                )
            bound[name] = self._checked(name, value, parameter)
        return bound

    def _checked(self, name: str, value: Any, parameter: Parameter) -> Any:
        if parameter.type is float and type(value) is int:
            return float(value)
        if value is None and parameter.default is None:
            return None
        fits = type(value) is parameter.type
        if fits and parameter.type is list:
            fits = all(type(item) is str for item in value)
            if fits and len(set(value)) < len(value):
                raise OptionError(f"{self.name}: {name} names {value} twice; name each once.")
            if not value and parameter.default is REQUIRED:
                raise OptionError(f"{self.name}: {name} is empty; name at least one.")
            if fits:
                return sorted(value)  # as Clique.concepts is
        if not fits:
            raise OptionError(
                f"{self.name}: {name} is {value!r}; it takes {_TYPES[parameter.type]}."
            )
        return value


def describe_parameters(query: CatalogueQuery) -> str:
    """A query's parameters in one line, those that may be left out in brackets.

    Examples
    --------
    >>> describe_parameters(CATALOGUE["rare-concepts"])
    'dataset [max_images=10] [limit=50]'
    """
    return " ".join(
        name
        if parameter.default is REQUIRED
        else f"[{name}]"
        if parameter.default in (None, [])
        else f"[{name}={json.dumps(parameter.default)}]"
        for name, parameter in query.parameters.items()
    )


_TYPES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a JSON list of texts",
}

CATALOGUE: Registry[CatalogueQuery] = Registry("query")

DATASET = Parameter("the dataset's name", default=REQUIRED)
CLASS = Parameter("the class's name", default=REQUIRED, names=schema.CLASS)
CONCEPT = Parameter("a concept's name", default=REQUIRED, names=schema.CONCEPT)
CONCEPTS = Parameter("the clique's concepts", list, REQUIRED, schema.CONCEPT)
PLAN = Parameter("the plan's name", default=REQUIRED, names=schema.PLAN)
LIMIT = Parameter("the most rows to return", int, 50)


def _add(
    name: str,
    purpose: str,
    columns: str,
    text: str,
    *,
    scans_images: bool = False,
    reads_cliques: bool = False,
    parameters: dict[str, Parameter] | None = None,
) -> None:
    query = CatalogueQuery(
        name,
        purpose,
        text.strip(),
        tuple(columns.split()),
        {"dataset": DATASET, **(parameters or {})},
        scans_images,
        reads_cliques,
    )
    CATALOGUE.register(name, query)


# Per-class counts of whatever is grouped by, zero for a class without any, then what they say:
# the paper's gap and its under-represented class (ties by name).
_SUMMARY = """
  reduce(most = counts[0], c IN counts | CASE WHEN c.images > most.images THEN c ELSE most END)
    AS most,
  reduce(least = counts[0], c IN counts | CASE WHEN c.images < least.images THEN c ELSE least END)
    AS least"""

_VERDICT = """most.images - least.images AS gap,
       CASE WHEN most.images > least.images THEN least.class END AS under_represented"""


def _from_images(size: int) -> str:
    """Cypher that counts every common clique of a size per class, straight from the images.

    One concept after another, each with those behind it: the groups that the database has to hold
    at once are then those of one concept.
    """
    names = [f"c{j}" for j in range(1, size + 1)]
    extensions = "".join(
        f"\n  MATCH (i)-[:CONTAINS]->({after}:Concept) "
        f"WHERE {before}.name < {after}.name AND NOT {after} IN uncommon"
        for before, after in pairwise(names)
    )
    return f"""
MATCH (y:Class {{dataset: $dataset}})
WITH y ORDER BY y.name
WITH collect(y) AS classes
MATCH (c:Concept {{dataset: $dataset}})
WITH classes, c, all(y IN classes WHERE
  EXISTS {{ (c)<-[:CONTAINS]-(:Image)-[:LABELED]->(y) }}) AS common
WITH classes, collect(CASE WHEN common THEN c END) AS firsts,
  collect(CASE WHEN NOT common THEN c END) AS uncommon
UNWIND firsts AS c1
CALL (classes, uncommon, c1) {{
  MATCH (c1)<-[:CONTAINS]-(i:Image){extensions}
  MATCH (i)-[:LABELED]->(y:Class)
  WITH classes, {", ".join(names)}, y, count(*) AS images
  WITH classes, {", ".join(names)}, collect([y, images]) AS found
  RETURN [{", ".join(f"{name}.name" for name in names)}] AS concepts,
    [y IN classes | {{class: y.name,
      images: coalesce([f IN found WHERE f[0] = y | f[1]][0], 0)}}] AS counts
}}"""


for _size in range(1, MAX_SIZE + 1):
    _add(
        f"imbalances-from-images-{_size}",
        f"Every common clique of size {_size} with its count in each class, counted by the "
        "database alone.",
        "concepts counts gap under_represented",
        _from_images(_size)
        + f"""
WITH concepts, counts,{_SUMMARY}
RETURN concepts, [c IN counts | [c.class, c.images]] AS counts,
       {_VERDICT}
ORDER BY gap DESC, concepts LIMIT $limit""",
        scans_images=True,
        parameters={"limit": Parameter("the most rows to return", int, 1000)},
    )
    _add(
        f"generation-queries-from-images-{_size}",
        f"What the planner `published` asks for at size {_size}, by the database alone: for each "
        "common clique, and each class with fewer images than the class with most, the difference.",
        "class concepts n",
        _from_images(_size)
        + """
WITH concepts, counts,
  reduce(most = 0, c IN counts | CASE WHEN c.images > most THEN c.images ELSE most END) AS most
UNWIND counts AS c
WITH concepts, c.class AS class, most - c.images AS n WHERE n > 0
RETURN class, concepts, n
ORDER BY n DESC, concepts, class LIMIT $limit""",
        scans_images=True,
        parameters={"limit": Parameter("the most rows to return", int, 1000)},
    )

# Of images with several concepts: those with the rarest are looked at, and asked for the others.
_RAREST_FIRST = """
UNWIND $concepts AS name
MATCH (c:Concept {dataset: $dataset, name: name})
WITH c ORDER BY COUNT { (c)<-[:CONTAINS]-() }
WITH collect(DISTINCT c) AS members
WHERE size(members) = size($concepts)
WITH members[0] AS rarest, members[1..] AS others
"""

_add(
    "imbalance-of-concepts",
    "How many images of each class contain all the given concepts, counted from the images.",
    "class images class_size rate",
    _RAREST_FIRST
    + """MATCH (rarest)<-[:CONTAINS]-(i)
WHERE all(c IN others WHERE EXISTS { (i)-[:CONTAINS]->(c) })
MATCH (i)-[:LABELED]->(y:Class)
WITH y, count(*) AS found
WITH collect([y, found]) AS found
MATCH (y:Class {dataset: $dataset})
WITH y, coalesce([f IN found WHERE f[0] = y | f[1]][0], 0) AS images,
  COUNT { (y)<-[:LABELED]-() } AS class_size
RETURN y.name AS class, images, class_size, toFloat(images) / class_size AS rate
ORDER BY images DESC, class""",
    parameters={
        "concepts": CONCEPTS,
    },
)

_CLIQUE_COLUMNS = (
    "concepts size counts gap over_represented under_represented lift log_odds_ratio "
    "log_odds_ratio_low log_odds_ratio_high p_value q_value test"
)
CLIQUE_RETURN = """
MATCH (q)-[counted:COUNTED_IN]->(y:Class)
WITH q, y, counted ORDER BY y.name
WITH q, collect([y.name, counted.images]) AS counts
RETURN q.concepts AS concepts, q.size AS size, counts, q.gap AS gap,
       q.over_represented AS over_represented, q.under_represented AS under_represented,
       q.lift AS lift,
       q.log_odds_ratio AS log_odds_ratio, q.log_odds_ratio_low AS log_odds_ratio_low,
       q.log_odds_ratio_high AS log_odds_ratio_high, q.p_value AS p_value, q.q_value AS q_value,
       q.test AS test"""

FILTER = """
  AND $min_size <= q.size AND q.size <= $max_size
  AND ($class IS NULL OR q.under_represented = $class)
  AND ($max_q_value IS NULL OR q.q_value <= $max_q_value)"""

_FILTER_PARAMETERS = {
    "min_gap": Parameter("the smallest gap, in images", int, 0),
    "class": Parameter("only cliques that this class is under-represented in", names=schema.CLASS),
    "min_size": Parameter("the smallest size", int, 1),
    "max_size": Parameter("the largest size", int, 100),
    "max_q_value": Parameter("the largest q-value", float),
    "limit": LIMIT,
}

# The dataset, the same for all, is in the order because the index on (dataset, gap) then gives the
# rows sorted, and the limit ends the scan.
_add(
    "imbalances",
    "The mined cliques with the largest gap, with their statistics.",
    _CLIQUE_COLUMNS,
    f"""
MATCH (q:Clique {{dataset: $dataset}})
WHERE q.gap >= $min_gap{FILTER}
WITH q ORDER BY q.dataset DESC, q.gap DESC, q.size, q.concepts LIMIT $limit{CLIQUE_RETURN}
ORDER BY gap DESC, size, concepts""",
    reads_cliques=True,
    parameters=_FILTER_PARAMETERS,
)

_add(
    "imbalances-with-concepts",
    "The mined cliques that contain all the given concepts, largest gap first.",
    _CLIQUE_COLUMNS,
    f"""
UNWIND $concepts AS name
MATCH (c:Concept {{dataset: $dataset, name: name}})
WITH c ORDER BY COUNT {{ (c)<-[:HAS]-() }} LIMIT 1
MATCH (c)<-[:HAS]-(q:Clique)
WHERE q.gap >= $min_gap AND all(name IN $concepts WHERE name IN q.concepts){FILTER}
WITH q ORDER BY q.gap DESC, q.size, q.concepts LIMIT $limit{CLIQUE_RETURN}
ORDER BY gap DESC, size, concepts""",
    reads_cliques=True,
    parameters={"concepts": CONCEPTS, **_FILTER_PARAMETERS},
)

_add(
    "clique",
    "One mined clique with its statistics.",
    _CLIQUE_COLUMNS,
    """
MATCH (q:Clique {dataset: $dataset, concepts: $concepts})"""
    + CLIQUE_RETURN,
    reads_cliques=True,
    parameters={"concepts": CONCEPTS},
)

_add(
    "neighbourhood",
    "The concepts that occur together with a concept, by how many images show both.",
    "concept images lift",
    """
MATCH (d:Concept {dataset: $dataset, name: $concept})
MATCH (d)-[e:CO_OCCURS]-(c:Concept)
WITH d, c, e.images AS images,
  COUNT { (d)<-[:CONTAINS]-() } AS with_d, COUNT { (c)<-[:CONTAINS]-() } AS with_c
MATCH (s:Dataset {name: $dataset})
RETURN c.name AS concept, images, toFloat(images) * s.images / (with_d * with_c) AS lift
ORDER BY images DESC, concept
LIMIT $limit""",
    parameters={
        "concept": CONCEPT,
        "limit": LIMIT,
    },
)

_add(
    "classes-of-concept",
    "The weight of the edge between a concept and each class, zero where there is none.",
    "class images class_size rate",
    """
MATCH (c:Concept {dataset: $dataset, name: $concept})
MATCH (y:Class {dataset: $dataset})
OPTIONAL MATCH (y)-[e:CO_OCCURS]->(c)
WITH y, coalesce(e.images, 0) AS images, COUNT { (y)<-[:LABELED]-() } AS class_size
RETURN y.name AS class, images, class_size, toFloat(images) / class_size AS rate
ORDER BY images DESC, class""",
    parameters={
        "concept": CONCEPT,
    },
)

_add(
    "class-edge-weights",
    "The strongest mined edges between two concepts, with their weight in each class alone; "
    "all counts are of the split that was mined.",
    "concept_1 concept_2 images weights",
    """
MATCH (a:Concept {dataset: $dataset})-[:CO_OCCURS]->(b:Concept)
WHERE $concept IS NULL OR a.name = $concept OR b.name = $concept
MATCH (q:Clique {dataset: $dataset, concepts: [a.name, b.name]})
WITH a, b, q, reduce(n = 0, counted IN [(q)-[e:COUNTED_IN]->() | e.images] | n + counted) AS images
ORDER BY images DESC, a.name, b.name LIMIT $limit
MATCH (q)-[counted:COUNTED_IN]->(y:Class)
WITH a, b, images, y, counted ORDER BY y.name
RETURN a.name AS concept_1, b.name AS concept_2, images,
       collect([y.name, counted.images]) AS weights
ORDER BY images DESC, concept_1, concept_2""",
    reads_cliques=True,
    parameters={
        "concept": Parameter("only edges of this concept", names=schema.CONCEPT),
        "limit": LIMIT,
    },
)

_add(
    "images-of-clique",
    "The images of a class that contain all the given concepts, in order of id.",
    "id uri split synthetic",
    _RAREST_FIRST
    + """MATCH (y:Class {dataset: $dataset, name: $class})
MATCH (rarest)<-[:CONTAINS]-(i)
WHERE all(c IN others WHERE EXISTS { (i)-[:CONTAINS]->(c) }) AND EXISTS { (i)-[:LABELED]->(y) }
RETURN i.id AS id, i.uri AS uri, i.split AS split, i.synthetic AS synthetic
ORDER BY id SKIP $skip LIMIT $limit""",
    parameters={
        "concepts": CONCEPTS,
        "limit": LIMIT,
        "skip": Parameter("how many to pass over", int, 0),
        "class": CLASS,
    },
)

_add(
    "graph-size",
    "The paper's |V| and |E|: classes and concepts, and the pairs that share an image.",
    "nodes edges classes concepts images",
    """
MATCH (s:Dataset {name: $dataset})
WITH s, COUNT { MATCH (:Class {dataset: $dataset}) } AS classes,
  COUNT { MATCH (:Concept {dataset: $dataset}) } AS concepts,
  COUNT { MATCH (:Concept {dataset: $dataset})-[:CO_OCCURS]->() }
    + COUNT { MATCH (:Class {dataset: $dataset})-[:CO_OCCURS]->() } AS edges
RETURN classes + concepts AS nodes, edges, classes, concepts, s.images AS images""",
)

_add(
    "edges-from-images",
    "Every edge of the concept graph with its weight, counted by the database alone.",
    "start end images",
    """
CALL () {
  MATCH (a:Concept {dataset: $dataset})<-[:CONTAINS]-(i:Image)-[:CONTAINS]->(b:Concept)
  WHERE a.name < b.name
  RETURN a.name AS start, b.name AS end, count(*) AS images
  UNION ALL
  MATCH (y:Class {dataset: $dataset})<-[:LABELED]-(i:Image)-[:CONTAINS]->(b:Concept)
  RETURN y.name AS start, b.name AS end, count(*) AS images
}
RETURN start, end, images ORDER BY images DESC, start, end""",
    scans_images=True,
)

_add(
    "classes",
    "The classes and how many images each has.",
    "class images",
    """
MATCH (y:Class {dataset: $dataset})
RETURN y.name AS class, COUNT { (y)<-[:LABELED]-() } AS images
ORDER BY images DESC, class""",
)

_add(
    "concepts",
    "The concepts and how many images contain each, the most frequent first.",
    "concept images",
    """
MATCH (c:Concept {dataset: $dataset})
RETURN c.name AS concept, COUNT { (c)<-[:CONTAINS]-() } AS images
ORDER BY images DESC, concept LIMIT $limit""",
    parameters={
        "limit": Parameter("the most rows to return", int, 1000),
    },
)

_add(
    "concepts-by-class",
    "Every concept with its images in each class: the class-concept edges, zeros included.",
    "concept images class count",
    """
MATCH (c:Concept {dataset: $dataset})
MATCH (y:Class {dataset: $dataset})
OPTIONAL MATCH (y)-[e:CO_OCCURS]->(c)
RETURN c.name AS concept, COUNT { (c)<-[:CONTAINS]-() } AS images, y.name AS class,
       coalesce(e.images, 0) AS count
ORDER BY images DESC, concept, class""",
)

# The counts of a concept in each class that shows it, by name of class.
_COUNTS_OF_CONCEPT = """COLLECT {
  MATCH (c)<-[e:CO_OCCURS]-(y:Class) WITH y, e ORDER BY y.name RETURN [y.name, e.images]
}"""

_add(
    "concept-counts",
    "The given concepts with their images in each class that shows them, the most frequent first.",
    "concept images counts",
    f"""
UNWIND $concepts AS name
MATCH (c:Concept {{dataset: $dataset, name: name}})
RETURN c.name AS concept, COUNT {{ (c)<-[:CONTAINS]-() }} AS images,
       {_COUNTS_OF_CONCEPT} AS counts
ORDER BY images DESC, concept""",
    parameters={"concepts": CONCEPTS},
)

# Concepts that are always wanted come first; the rest are those with a part of the name.
_FOUND = """
WITH *, c.name IN $always AS always
WHERE always OR toLower(c.name) CONTAINS toLower($search)"""
_SHOWN = f"""
WITH collect(c) AS found
UNWIND found[..CASE WHEN $limit < size($always) THEN size($always) ELSE $limit END] AS c
RETURN c.name AS concept, COUNT {{ (c)<-[:CONTAINS]-() }} AS images,
       {_COUNTS_OF_CONCEPT} AS counts, size(found) AS found"""
_SEARCH_PARAMETERS = {
    "search": Parameter("only concepts whose name contains this, in any case", default=""),
    "always": Parameter("concepts to return first, whatever else", list, [], schema.CONCEPT),
    "limit": LIMIT,
}

_add(
    "frequent-concepts",
    "The most frequent concepts with their images in each class, and how many concepts were found.",
    "concept images counts found",
    """
MATCH (c:Concept {dataset: $dataset})"""
    + _FOUND
    + """
WITH c, always, COUNT { (c)<-[:CONTAINS]-() } AS images
ORDER BY always DESC, images DESC, c.name"""
    + _SHOWN,
    parameters=_SEARCH_PARAMETERS,
)

_add(
    "skewed-concepts",
    "The concepts whose rates differ most surely between two sides, each one or more classes, by "
    "the z statistic of two proportions; and how many concepts were found.",
    "concept images counts found",
    """
MATCH (y:Class {dataset: $dataset})
WITH y ORDER BY y.name
WITH collect({class: y, images: COUNT { (y)<-[:LABELED]-() }}) AS classes
WITH classes, CASE WHEN size($left) > 0 THEN $left ELSE [classes[0].class.name] END AS left_names
WITH [y IN classes | {
  class: y.class, images: y.images,
  left: CASE WHEN y.class.name IN left_names THEN 1 ELSE 0 END,
  right: CASE WHEN CASE WHEN size($right) > 0 THEN y.class.name IN $right
                   ELSE NOT y.class.name IN left_names END THEN 1 ELSE 0 END}] AS classes
WITH classes, toFloat(reduce(n = 0, y IN classes | n + y.left * y.images)) AS left_images,
  toFloat(reduce(n = 0, y IN classes | n + y.right * y.images)) AS right_images
UNWIND classes AS side
WITH side.class AS y, side.left AS left, side.right AS right, left_images, right_images
MATCH (y)-[e:CO_OCCURS]->(c:Concept)
WITH c, left_images, right_images, sum(left * e.images) AS l, sum(right * e.images) AS r
WITH c, l, r, l / left_images - r / right_images AS difference,
  (l + r) / (left_images + right_images) AS both, 1 / left_images + 1 / right_images AS spread
WITH c, l, r, difference, both * (1 - both) * spread AS variance"""
    + _FOUND
    + """
WITH c, always, l + r AS images,
  CASE WHEN variance > 0 THEN abs(difference) / sqrt(variance) ELSE 0 END AS z
ORDER BY always DESC, z DESC, images DESC, c.name"""
    + _SHOWN,
    parameters={
        "left": Parameter("the classes of one side; the first by name", list, [], schema.CLASS),
        "right": Parameter("the classes of the other; all the rest", list, [], schema.CLASS),
        **_SEARCH_PARAMETERS,
    },
)

# The pair's clique has its counts per class. Without one the pair is not common to all classes,
# or was not mined, and the list is empty.
_COUNTS_OF_PAIR = """COLLECT {
  MATCH (q:Clique {dataset: $dataset, concepts: [a.name, b.name]})-[n:COUNTED_IN]->(y:Class)
  WITH y, n ORDER BY y.name
  RETURN [y.name, n.images]
}"""

_add(
    "edges-between-concepts",
    "The strongest edges among the given concepts, with the pair's count in each class where it "
    "was mined, and how many edges there are among them.",
    "concept_1 concept_2 images counts found",
    f"""
UNWIND $concepts AS name
MATCH (c:Concept {{dataset: $dataset, name: name}})
WITH collect(c) AS given
UNWIND given AS a
MATCH (a)-[e:CO_OCCURS]->(b:Concept) WHERE b IN given
WITH a, b, e.images AS images ORDER BY images DESC, a.name, b.name
WITH collect({{a: a, b: b, images: images}}) AS edges
UNWIND edges[..$limit] AS edge
WITH edge.a AS a, edge.b AS b, edge.images AS images, size(edges) AS found
RETURN a.name AS concept_1, b.name AS concept_2, images, {_COUNTS_OF_PAIR} AS counts, found
ORDER BY images DESC, concept_1, concept_2""",
    reads_cliques=True,
    parameters={"concepts": CONCEPTS, "limit": LIMIT},
)

_add(
    "neighbours-of-concepts",
    "For each of the given concepts those that share most images with it, with the pair's count in "
    "each class where it was mined, and how many neighbours the concept has.",
    "concept neighbour images lift counts found",
    f"""
MATCH (s:Dataset {{name: $dataset}})
UNWIND $concepts AS name
MATCH (d:Concept {{dataset: $dataset, name: name}})
CALL (s, d) {{
  MATCH (d)-[e:CO_OCCURS]-(c:Concept)
  WITH c, e ORDER BY e.images DESC, c.name
  WITH collect([c, e]) AS edges
  UNWIND edges[..$limit] AS edge
  WITH edge[0] AS c, edge[1] AS e, size(edges) AS found
  WITH c, e, found, startNode(e) AS a, endNode(e) AS b
  RETURN c, e.images AS images, found, {_COUNTS_OF_PAIR} AS counts
}}
RETURN d.name AS concept, c.name AS neighbour, images,
       toFloat(images) * s.images
         / (COUNT {{ (d)<-[:CONTAINS]-() }} * COUNT {{ (c)<-[:CONTAINS]-() }}) AS lift,
       counts, found
ORDER BY concept, images DESC, neighbour""",
    reads_cliques=True,
    parameters={
        "concepts": CONCEPTS,
        "limit": Parameter("the most neighbours of each concept", int, 25),
    },
)

_add(
    "concepts-of-class",
    "The concepts that share most images with a class, and how many there are.",
    "concept images lift found",
    """
MATCH (s:Dataset {name: $dataset})
MATCH (y:Class {dataset: $dataset, name: $class})
MATCH (y)-[e:CO_OCCURS]->(c:Concept)
WITH s, y, c, e ORDER BY e.images DESC, c.name
WITH s, y, collect([c, e.images]) AS edges
UNWIND edges[..$limit] AS edge
WITH s, y, edge[0] AS c, edge[1] AS images, size(edges) AS found
RETURN c.name AS concept, images,
       toFloat(images) * s.images
         / (COUNT { (y)<-[:LABELED]-() } * COUNT { (c)<-[:CONTAINS]-() }) AS lift,
       found
ORDER BY images DESC, concept""",
    parameters={"class": CLASS, "limit": LIMIT},
)

_add(
    "shortest-link",
    "The shortest chain of shared images from one concept to another: of those equally short the "
    "one whose weakest edge is strongest, then the one with the largest sum.",
    "concepts images",
    """
MATCH (a:Concept {dataset: $dataset, name: $concepts[0]})
MATCH (b:Concept {dataset: $dataset, name: $concepts[-1]})
WHERE a <> b
MATCH path = allShortestPaths((a)-[:CO_OCCURS*]-(b))
WHERE all(n IN nodes(path) WHERE n:Concept)
WITH path LIMIT 100000
WITH [n IN nodes(path) | n.name] AS concepts, [e IN relationships(path) | e.images] AS images
RETURN concepts, images
ORDER BY reduce(least = images[0], n IN images | CASE WHEN n < least THEN n ELSE least END) DESC,
         reduce(sum = 0, n IN images | sum + n) DESC, concepts
LIMIT 1""",
    parameters={"concepts": Parameter("the two concepts", list, REQUIRED, schema.CONCEPT)},
)

_add(
    "rare-concepts",
    "Concepts that few images contain, the rarest first: their imbalances rest on little.",
    "concept images",
    """
MATCH (c:Concept {dataset: $dataset})
WITH c, COUNT { (c)<-[:CONTAINS]-() } AS images WHERE images <= $max_images
RETURN c.name AS concept, images
ORDER BY images, concept LIMIT $limit""",
    parameters={
        "max_images": Parameter("the most images", int, 10),
        "limit": LIMIT,
    },
)

_add(
    "missing-concepts",
    "Concepts that a class never shows: no clique with them is common to all classes.",
    "class concept images",
    """
MATCH (y:Class {dataset: $dataset})
MATCH (c:Concept {dataset: $dataset})
WHERE NOT EXISTS { (y)-[:CO_OCCURS]->(c) }
RETURN y.name AS class, c.name AS concept, COUNT { (c)<-[:CONTAINS]-() } AS images
ORDER BY images DESC, class, concept LIMIT $limit""",
    parameters={
        "limit": LIMIT,
    },
)

_add(
    "images-without-concepts",
    "How many images of each class have no concept at all; they count in no clique.",
    "class images class_size",
    """
MATCH (y:Class {dataset: $dataset})
RETURN y.name AS class,
       COUNT { MATCH (y)<-[:LABELED]-(i:Image) WHERE NOT EXISTS { (i)-[:CONTAINS]->() } }
         AS images, COUNT { (y)<-[:LABELED]-() } AS class_size
ORDER BY images DESC, class""",
    scans_images=True,
)

_add(
    "plans",
    "The plans of a dataset: how each was made, how many images it asks for, and whether it was "
    "made for the cliques that are there now.",
    "plan planner min_size max_size queries images current",
    """
MATCH (d:Dataset {name: $dataset})
MATCH (p:Plan {dataset: $dataset})
RETURN p.name AS plan, p.planner AS planner, p.min_size AS min_size, p.max_size AS max_size,
       COUNT { (p)<-[:ASKED_BY]-() } AS queries, p.images AS images,
       coalesce(p.mined_as = toString(d.cliques_digest) + ' ' + d.mining, false) AS current
ORDER BY plan""",
)

_add(
    "plan-queries",
    "The generation queries of a plan: which images of which class, and how many.",
    "class concepts n",
    """
MATCH (g:GenerationQuery {dataset: $dataset, plan: $plan})
RETURN g.class_name AS class, g.concepts AS concepts, g.n AS n
ORDER BY n DESC, concepts, class LIMIT $limit""",
    parameters={
        "plan": PLAN,
        "limit": LIMIT,
    },
)

_add(
    "plan-coverage",
    "The cliques of a plan's sizes with the largest gap, and the gap that the plan leaves: every "
    "image that it asks for counts in each clique that it contains.",
    "concepts size gap planned gap_after",
    """
MATCH (p:Plan {dataset: $dataset, name: $plan})
MATCH (q:Clique {dataset: $dataset})
WHERE q.gap >= 0 AND p.min_size <= q.size AND q.size <= p.max_size
WITH p, q ORDER BY q.dataset DESC, q.gap DESC, q.size, q.concepts LIMIT $limit
WITH p, collect(q) AS cliques
MATCH (p)<-[:ASKED_BY]-(g:GenerationQuery)
WITH cliques, collect([g.concepts, g.class_name, g.n]) AS queries
UNWIND cliques AS q
WITH q, [g IN queries WHERE all(concept IN q.concepts WHERE concept IN g[0])] AS asked
MATCH (q)-[counted:COUNTED_IN]->(y:Class)
WITH q, asked, counted.images
  + reduce(n = 0, a IN asked | n + CASE WHEN a[1] = y.name THEN a[2] ELSE 0 END) AS images
RETURN q.concepts AS concepts, q.size AS size, q.gap AS gap,
       reduce(n = 0, a IN asked | n + a[2]) AS planned, max(images) - min(images) AS gap_after
ORDER BY gap DESC, size, concepts""",
    reads_cliques=True,
    parameters={
        "plan": PLAN,
        "limit": Parameter("the most rows to return", int, 10),
    },
)
