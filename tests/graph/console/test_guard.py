"""What the console's guard lets through, on a corpus and on random mixtures around it."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import QueryRefusedError
from cobalance.graph.console.guard import (
    FUNCTIONS,
    MAX_LENGTH,
    MAX_NESTING,
    PROCEDURES,
    check_read_only,
)
from cobalance.graph.queries.catalogue import CATALOGUE

CORPUS = json.loads((Path(__file__).parents[2] / "data" / "cypher_console.json").read_text("utf-8"))

CLAUSES = (
    *("CREATE (n)", "MERGE (n)", "SET n.x = 1", "SET n:X", "REMOVE n.x", "DELETE n"),
    *("DETACH DELETE n", "NODETACH DELETE n", "INSERT (n)", "FOREACH (x IN [1] | CREATE (n))"),
    *("LOAD CSV FROM 'x' AS l", "USE other", "CALL dbms.listConfig()", "CALL apoc.load.json('x')"),
    *("CALL { CREATE (n) }", "SHOW TRANSACTIONS", "TERMINATE TRANSACTIONS 'x'"),
)
# Places where a clause can stand; all around them reads.
FRAMES = (
    "{}",
    "MATCH (n) {} RETURN n",
    "MATCH (n) WHERE n.x > 1 {} RETURN n",
    "MATCH (n) WHERE n.x IS :: LIST<INTEGER NOT NULL> {} RETURN n",
    "MATCH (n) WHERE n.x IS :: INTEGER! {}",
    "MATCH (n) WHERE n:% {}",
    "MATCH (a) (()-->())+ {}",
    "MATCH (n) WITH n {}",
    "MATCH (n) WITH DISTINCT n {}",
    "MATCH (n) WITH * {}",
    "MATCH (n) WITH n ORDER BY n.x DESC LIMIT 10 {}",
    "MATCH (n) WITH n AS `set` {}",
    "MATCH (n) WITH n.create {}",
    "MATCH (as) WITH as {}",
    "MATCH (return) WITH return {}",
    "MATCH (distinct) WITH distinct {}",
    "UNWIND $create AS x {}",
    "UNWIND [1] AS x {}",
    "CALL {{ {} }} RETURN 1 AS x",
    "CALL () {{ {} RETURN 1 AS x }} RETURN x",
    "RETURN 1 AS x UNION {}",
    "RETURN 1 AS x; {}",
    "CALL db.labels() YIELD label {}",
    "SHOW INDEXES YIELD * {}",
    "RETURN EXISTS {{ {} }} AS x",
    "MATCH (n) RETURN COLLECT {{ {} RETURN n }} AS x",
)
HIDING = st.text(alphabet="ab'\"`\\/*{}();$ \n\u00a0\u2028é", max_size=12)
SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"


def string_literal(text: str) -> str:
    quote = "'" if len(text) % 2 else '"'
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


def backticks(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"


def block_comment(text: str) -> str:
    return "/*" + text.replace("*/", "* /").rstrip("*") + "*/"


def line_comment(text: str) -> str:
    return "//" + text.replace("\n", " ").replace("\r", " ") + "\n"


def without_escapes(text: str) -> str:
    """Such as chance puts together from a backslash and a clause: another refusal's subject."""
    return text.replace("\\", "")


@st.composite
def gaps(draw):
    """What may stand between two words: white space and comments."""
    comments = st.builds(block_comment, HIDING) | st.builds(line_comment, HIDING)
    parts = draw(st.lists(st.sampled_from(SPACES) | comments.map(without_escapes), max_size=3))
    return draw(st.sampled_from(SPACES)) + "".join(parts) + draw(st.sampled_from(SPACES))


@st.composite
def respelled(draw, query):
    """The same query to the server: other case, other white space, comments in between."""
    words = query.split(" ")
    spelled = [word.swapcase() if draw(st.booleans()) else word for word in words]
    return draw(gaps()).join(spelled)


@pytest.mark.parametrize("query", CORPUS["refused_twice"] + CORPUS["refused_by_guard"])
def test_refuses_what_does_more_than_read(query):
    with pytest.raises(QueryRefusedError):
        check_read_only(query)


@pytest.mark.parametrize("query", CORPUS["cypher_25"])
def test_says_that_a_clause_is_of_the_newer_language(query):
    with pytest.raises(QueryRefusedError, match="it is of Cypher 25, and this console asks"):
        check_read_only(query)


@pytest.mark.parametrize("query", CORPUS["harmless"])
def test_passes_what_reads(query):
    check_read_only(query)


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_passes_the_catalogue(name):
    check_read_only(CATALOGUE[name].text)


@pytest.mark.parametrize("frame", FRAMES)
def test_refuses_each_clause_wherever_it_can_stand(frame):
    for clause in CLAUSES:
        with pytest.raises(QueryRefusedError):
            check_read_only(frame.format(clause))


@settings(deadline=None)
@given(st.data(), st.sampled_from(FRAMES), st.sampled_from(CLAUSES))
def test_no_spelling_hides_a_clause(data, frame, clause):
    with pytest.raises(QueryRefusedError):
        check_read_only(data.draw(respelled(frame.format(clause))))


@settings(deadline=None)
@given(HIDING, st.sampled_from(CLAUSES), HIDING, st.sampled_from(CLAUSES))
def test_no_quote_or_comment_hides_the_clause_behind_it(before, quoted, after, clause):
    hidden = before + quoted + after
    query = (
        f"MATCH (n:{backticks(hidden)}) WHERE n.x = {string_literal(hidden)} "
        f"{block_comment(hidden)} {line_comment(hidden)} {clause} RETURN n"
    )
    with pytest.raises(QueryRefusedError):
        check_read_only(query)


@settings(deadline=None)
@given(HIDING, st.sampled_from(CLAUSES), HIDING)
def test_quotes_and_comments_may_hold_anything(before, clause, after):
    hidden = before + clause + after
    commented = without_escapes(hidden)
    check_read_only(
        f"MATCH (n:{backticks(commented)}) {block_comment(commented)} "
        f"WHERE n.x = {string_literal(hidden)} {line_comment(commented)} "
        f"RETURN n.{backticks(commented)} AS {backticks(commented)}"
    )


WORDS = (
    *("create", "merge", "set", "Remove", "DELETE", "detach", "foreach", "insert", "load"),
    *("use", "show", "start", "drop", "call"),
)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "frame",
    [
        "MATCH (n:{0}) RETURN n",
        "MATCH (n:A|{0} {{{0}: 1}})-[:{0}]->(:B&{0}&!C) WHERE n:{0} RETURN n",
        "MATCH (n) WHERE n.{0} = 1 AND n.x = $ {0} RETURN n.{0}, n.x",
        "RETURN {{{0}: 1, x: {{{0}: 2}}}} AS x",
        "MATCH ({0})-[r]->(x) RETURN x, {0}, {0}.x, [{0}.x]",
        "RETURN count(*) AS {0} ORDER BY 1",
        "MATCH (n) RETURN n AS {0} LIMIT 1",
        "MATCH (n) WITH n.x AS {0} WHERE 1 < {0} RETURN {0}",
        "MATCH (n) WITH 1 AS `{0}` RETURN `{0}` + `{0}` AS x ORDER BY `{0}` DESC",
        "RETURN [{0} IN [1] WHERE {0} > 0 | {0}] AS x",
        "RETURN reduce({0} = 0, x IN [1] | {0} + x) AS x",
    ],
)
def test_a_word_of_a_clause_may_be_a_name(word, frame):
    check_read_only(frame.format(word))


@pytest.mark.parametrize("word", [*WORDS[:10], "drop"])
@pytest.mark.parametrize(
    "frame",
    [
        "WITH [1] AS {0} UNWIND {0} AS x RETURN x",
        "MATCH (n) WITH n.x AS {0} WHERE {0} IS NULL OR n.y IN {0} RETURN {0} LIMIT 1",
        "MATCH (n) RETURN n.x AS {0} ORDER BY {0} DESC",
        "WITH 1 AS {0} RETURN CASE WHEN true THEN {0} ELSE {0} END AS x",
    ],
)
def test_a_word_of_a_clause_may_be_a_name_where_a_value_must_stand(word, frame):
    check_read_only(frame.format(word))


@pytest.mark.parametrize(
    "name", ["as", "in", "and", "where", "with", "unwind", "then", "order", "by"]
)
@pytest.mark.parametrize(
    "frame",
    [
        "MATCH (n) WITH n AS {0} SET n.x = 1 RETURN n",
        "MATCH ({0}) WITH {0} SET {0}.x = 1 RETURN 1 AS x",
        "MATCH ({0}) WITH 1 AS x, {0} DELETE {0}",
        "MATCH (n) WHERE {0} SET n.x = 1",
        "MATCH (n:{0}) SET n.x = 1",
        "MATCH (n) WITH n.{0} AS x, n SET n.x = 1",
        "CALL db.labels() YIELD label AS {0} CREATE (n)",
    ],
)
def test_a_name_that_looks_like_a_keyword_lets_no_clause_through(name, frame):
    with pytest.raises(QueryRefusedError):
        check_read_only(frame.format(name))


def test_says_what_where_why_and_what_to_do():
    with pytest.raises(QueryRefusedError) as caught:
        check_read_only("MATCH (n)\r\n  // SET\r\n  SET n.x = 1")
    assert str(caught.value) == (
        "query, line 3, column 3: SET is refused: it changes the graph, and this console only "
        "reads. If it is meant as a name, write it in backticks: `SET`."
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "is empty"),
        ("EXPLAIN MERGE (n)", "column 9: MERGE is refused: it changes the graph"),
        ("PROFILE SHOW INDEXES", "column 9: SHOW is refused: what this console shows are indexes"),
        ("SHOW PROCEDURES", "column 1: SHOW is refused: what this console shows are indexes"),
        ("CYPHER 25 RETURN 1", "column 1: CYPHER is refused: this console sets the language"),
        ("WITH 1 AS call WITH call CALL RETURN 1", "nor a subquery follows it. If it is meant as"),
        ("MATCH (n) RETRUN n", "column 11: RETRUN is refused: it is not a clause"),
        ("RETURN 'a", "column 8: this string is not closed"),
        ("RETURN 1 /* a", "column 10: this comment is not closed"),
        ("RETURN `a", "column 8: this name in backticks"),
        ("RETURN 1 AS a\u200bb", "column 14: the character U+200B is not allowed"),
        ("RETURN '\\u0027'", "column 9: a Unicode escape"),
        ("RETURN '\\u00e'", "column 9: a Unicode escape"),
        ("CALL dbms.listConfig()", "CALL dbms.listConfig is refused"),
        ("RETURN apoc.version()", "column 8: the function apoc.version is refused"),
        ("RETURN 1; RETURN 2", "column 9: ; is refused: a second statement"),
        ("RETURN " + "(" * 65 + "1" + ")" * 65, "nested more than 64 deep"),
        ("RETURN " + "EXISTS { RETURN " * 13 + "1 AS x" + "}" * 13, "or subqueries 12"),
        ("RETURN 1" + " " * MAX_LENGTH, "20,008 characters, 20,000 at most"),
    ],
)
def test_names_the_reason(query, said):
    with pytest.raises(QueryRefusedError) as caught:
        check_read_only(query)
    assert said in str(caught.value)


def test_procedures_and_functions_pass_by_name_alone():
    for name in PROCEDURES:
        check_read_only(f"CALL {name}() YIELD *")
        with pytest.raises(QueryRefusedError):
            check_read_only(f"CALL {name}.more()")
    for name in FUNCTIONS:
        check_read_only(f"RETURN {name.upper()}(1)")
        with pytest.raises(QueryRefusedError):
            check_read_only(f"RETURN other.{name}(1)")


def test_maps_nest_as_deeply_as_any_bracket():
    def nested(depth):
        return "RETURN " + "{a: " * depth + "1" + "}" * depth + " AS x"

    check_read_only(nested(MAX_NESTING))
    with pytest.raises(QueryRefusedError, match=f"nested more than {MAX_NESTING} deep"):
        check_read_only(nested(MAX_NESTING + 1))


def test_an_escape_of_what_ends_nothing_passes():
    for code in range(0x00A0, 0x3100, 7):
        check_read_only(f"RETURN 'a\\u{code:04X}b' AS x")


@pytest.mark.parametrize("character", "'\"`\\/*\r\n")
@pytest.mark.parametrize(
    "frame", ["RETURN '{}' AS x", "RETURN 1 AS `{}`", "RETURN 1 /* {} */ AS x"]
)
def test_an_escape_of_what_ends_a_text_is_refused(character, frame):
    with pytest.raises(QueryRefusedError, match="a Unicode escape"):
        check_read_only(frame.format(f"\\u{ord(character):04x}"))


@pytest.mark.timeout(60, func_only=True)
@pytest.mark.parametrize(
    "part", ["'", '"', "`", "/*", "//", "\\", "(", "a.", "a ", "$", "''", "1."]
)
def test_takes_time_in_proportion_to_the_length(part):
    query = "RETURN " + part * ((MAX_LENGTH - 7) // len(part))
    with suppress(QueryRefusedError):
        check_read_only(query)
