"""Reject Cypher that is not read-only before it is sent to the database.

Cypher reserves no word: `SET` may be a clause, a label, a property or a variable. So a keyword that
does more than read is refused unless its neighbours show that it is a name, and after the end of a
value only keywords of reading may follow. When in doubt a query is refused, and the message says
how to write the name unambiguously. The language is Cypher 5, in which the console asks.
"""

import re
from functools import cached_property

from cobalance.base import QueryRefusedError
from cobalance.graph.console.tokens import Token, refusal, tokenize

MAX_LENGTH = 20_000  # characters
# Brackets of any kind in each other: far below what the server's parser can take.
MAX_NESTING = 64
# Subqueries in each other: each doubles what some of them take to compile.
MAX_SUBQUERIES = 12

PROCEDURES = frozenset(
    {
        "db.labels",
        "db.relationshipTypes",
        "db.propertyKeys",
        "db.schema.visualization",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "dbms.components",
    }
)
# Functions without a dot are built in: a plug-in's need a namespace.
FUNCTIONS = frozenset(
    {
        f"{kind}.{name}"
        for kind in ("date", "datetime", "time", "localtime", "localdatetime")
        for name in ("truncate", "transaction", "statement", "realtime")
    }
    | {"datetime.fromepoch", "datetime.fromepochmillis"}
    | {f"duration.{name}" for name in ("between", "inmonths", "indays", "inseconds")}
    | {"point.distance", "point.withinbbox"}
    | {"vector.similarity.cosine", "vector.similarity.euclidean"}
)

_READS = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL")
_WRITES = "it changes the graph, and this console only reads"
_SERVER = "it administers the server, and this console only reads the graph"
_CYPHER_25 = "it is of Cypher 25, and this console asks every server in Cypher 5"
_MORE_THAN_READING = {
    **dict.fromkeys(("CREATE", "MERGE", "SET", "REMOVE", "DELETE"), _WRITES),
    **dict.fromkeys(("DETACH", "NODETACH", "INSERT", "FOREACH"), _WRITES),
    **dict.fromkeys(("DROP", "ALTER", "RENAME", "GRANT", "DENY", "REVOKE"), _SERVER),
    **dict.fromkeys(("START", "STOP", "TERMINATE", "ENABLE", "DRYRUN"), _SERVER),
    **dict.fromkeys(("REALLOCATE", "DEALLOCATE"), _SERVER),
    "SHOW": "what this console shows are indexes, constraints and functions, in a query that "
    "begins with it",
    "LOAD": "it reads a file or an address through the server",
    "USE": "it leaves the database that this console reads",
    "CYPHER": "this console sets the language itself, Cypher 5, and no other option",
}
# These are keywords only when one of these words comes next.
_SECOND_WORD = {
    "LOAD": ("CSV",),
    "START": ("DATABASE",),
    "STOP": ("DATABASE",),
    "ENABLE": ("SERVER",),
    "DRYRUN": ("REALLOCATE", "DEALLOCATE"),
    # It is one only at the start of a query.
    "CYPHER": (),
}
# Clauses of Cypher 25.
_NEWER = ("LET", "FILTER", "NEXT", "FOR", "WHEN", "SEARCH")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What stands before a statement, in capitals and with one space between two tokens.
_OPTIONS = re.compile(r"(?:(?:CYPHER 5|EXPLAIN|PROFILE) )+")
# What SHOW may list; EXPLAIN and PROFILE take no SHOW.
_SHOW = re.compile(
    r"""(?:CYPHER\ 5\ )*
    SHOW
    (?:\ (?:ALL|FULLTEXT|LOOKUP|POINT|RANGE|TEXT|VECTOR|BUILT|IN|USER|DEFINED
        |NODE|REL|RELATIONSHIP|PROPERTY|TYPE|UNIQUE|UNIQUENESS|KEY|EXIST|EXISTENCE))*
    \ (?:INDEX|INDEXES|CONSTRAINT|CONSTRAINTS|FUNCTION|FUNCTIONS)
    (?:\ EXECUTABLE)?
    (?:\ BY\ CURRENT\ USER)?
    (?!\S)""",
    re.VERBOSE,
)
# Words that a subquery's bracket follows.
_SUBQUERIES = ("EXISTS", "COUNT", "COLLECT", "CALL")
# No clause starts right after one of these.
_BEFORE_NAME = _words(". .. : $ ( [ , = < <= >= <> =~ - / ^ | || &")
# A label, a property or a parameter follows these.
_BEFORE_LABEL = _words(". .. : :: $ | & ! %")
# No clause's keyword stands right before one of these.
_AFTER_NAME = _words(". .. , ) ] } : :: = < > <= >= <> =~ != | || / ^ %")
# Keywords that may follow a complete value or pattern in a query that reads.
_FOLLOWING = _words("""
    MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER SKIP OFFSET LIMIT UNION CALL YIELD USING FINISH
    AND OR XOR NOT IN IS STARTS ENDS CONTAINS AS WHEN THEN ELSE END ASC ASCENDING DESC DESCENDING
    FROM LIST ARRAY PATH PATHS GROUP GROUPS""")
# Keywords that need a value or a name next.
_NEEDING_VALUE = _words("""
    AS IN AND OR XOR NOT WHERE WITH DISTINCT RETURN UNWIND CASE WHEN THEN ELSE
    STARTS ENDS CONTAINS""")
_BEGINNING_VALUE = ("NOT", "CASE", "DISTINCT")
_PAIRS = (("CASE", "WHEN"), ("STARTS", "WITH"), ("ENDS", "WITH"))
# Keywords that may stand before a name or a value.
_LEADING = _FOLLOWING | _words("""
    DISTINCT ALL ANY NONE SINGLE CASE BY ON INDEX SEEK SCAN JOIN TEXT RANGE POINT BTREE SHORTEST
    REPEATABLE DIFFERENT ELEMENT ELEMENTS BINDINGS RELATIONSHIP RELATIONSHIPS SHOW
    BOTH LEADING TRAILING TYPED SIGNED LOCAL ZONED TIME TIMESTAMP WITHOUT PROPERTY
    NFC NFD NFKC NFKD""")


def check_read_only(text: str) -> None:
    """Raise unless a query is read-only.

    Allowed are MATCH, WITH, UNWIND, RETURN, UNION, subqueries and CALL of `PROCEDURES`, with all
    their parts, EXPLAIN and PROFILE of them, and SHOW of indexes, constraints and functions. A word
    such as SET or CREATE passes as a label, property, parameter or map key, in backticks, and as a
    variable where it cannot be read as a clause.

    Raises
    ------
    QueryRefusedError
        What was found, its line and column, why it is refused, and what to do.
    """
    if len(text) > MAX_LENGTH:
        raise QueryRefusedError(
            f"The query has {len(text):,} characters, {MAX_LENGTH:,} at most. Give long lists as "
            "parameters."
        )

    tokens = list(tokenize(text))
    if tokens and tokens[-1].is_symbol(";"):
        tokens.pop()
    if not tokens:
        raise QueryRefusedError("The query is empty. Write one, such as MATCH (n) RETURN count(n).")
    _Check(text, tokens).run()


class _Check:
    """Checks of one query's tokens."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        # Edges on both sides, so that a token's neighbours are always there.
        edge = Token("edge", "", len(text))
        self.text, self.tokens = text, [edge, edge, *tokens, edge, edge, edge]
        self.openings: dict[int, int] = {}
        """The place of each closing bracket, and of the one that it closes."""

    def run(self) -> None:
        """Check the first word, the nesting, and each token with its neighbours."""
        start = " ".join(token.text for token in self.tokens[2:]).upper()
        show = _SHOW.match(start)
        prefix = show or _OPTIONS.match(start)
        first = 2
        if prefix is not None:
            first += len(prefix[0].split())

        if show is None and not self.tokens[first].is_word(*_READS):
            word = self.tokens[first].text.upper()
            reason = _MORE_THAN_READING.get(word, "a query that reads cannot start with it")
            if word in _NEWER:
                reason = _CYPHER_25
            raise self._refusal(first, reason, f"Start with {', '.join(_READS)}.")

        self._check_nesting()
        for place in range(first, len(self.tokens) - 3):
            token = self.tokens[place]
            if token.is_symbol(";"):
                raise self._refusal(place, "a second statement may follow", "Run one at a time.")
            if token.is_symbol("("):
                self._check_function(place)
            if token.kind == "word":
                self._check_word(place)

    def _check_nesting(self) -> None:
        """Match the brackets, and refuse too deep ones."""
        open_places: list[int] = []
        subqueries = 0
        for place, token in enumerate(self.tokens):
            if token.is_symbol("(", "[", "{"):
                open_places.append(place)
                subqueries += self._opens_subquery(place)
            elif token.is_symbol(")", "]", "}") and open_places:
                self.openings[place] = open_places.pop()
                subqueries -= self._opens_subquery(self.openings[place])
            if len(open_places) > MAX_NESTING or subqueries > MAX_SUBQUERIES:
                raise refusal(
                    self.text,
                    token.offset,
                    f"brackets are nested more than {MAX_NESTING} deep, or subqueries "
                    f"{MAX_SUBQUERIES}, which can stall the server",
                    "Split the query with WITH.",
                )

    def _opens_subquery(self, place: int) -> bool:
        """Whether a subquery may begin with this bracket: maps do not count."""
        before = self.tokens[place - 1]
        follows = before.is_word(*_SUBQUERIES) or before.is_symbol(")")
        return follows and self.tokens[place].is_symbol("{")

    def _check_word(self, place: int) -> None:
        """Refuse a word that may do more than read, or that no query which reads has here."""
        if self._is_name(place):
            return

        token, after = self.tokens[place], self.tokens[place + 1]
        word = token.text.upper()
        expected = _SECOND_WORD.get(word)
        if word in _MORE_THAN_READING and (expected is None or after.is_word(*expected)):
            raise self._refusal(place, _MORE_THAN_READING[word])
        if self._is_newer(place):
            raise self._refusal(place, _CYPHER_25, "Write it in Cypher 5.")

        is_behind_subquery = self._opens_subquery(self.openings.get(place - 1, 0))
        if is_behind_subquery and word == "IN" and after.is_word("TRANSACTIONS", "CONCURRENT"):
            raise self._refusal(place, "IN TRANSACTIONS is for changes", "Leave it out.")

        if word == "CALL":
            self._check_call(place)
        elif word not in _FOLLOWING and self._ends_value(place - 1):
            raise self._refusal(place, "it is not a clause or operator of a query that reads")

    def _is_newer(self, place: int) -> bool:
        """Whether a keyword that only Cypher 25 knows stands here."""
        token, before, after = self.tokens[place], self.tokens[place - 1], self.tokens[place + 1]
        if token.is_word("GROUP"):
            return after.is_word("BY")
        if token.is_word("LABELED"):
            labelled = before.is_word("IS", "NOT") and not after.is_word(*_FOLLOWING)
            return labelled and (after.is_name() or after.is_symbol("(", "!", "%", "$"))
        if not token.is_word(*_NEWER) or token.is_word("WHEN"):
            return False

        begins = before.is_symbol("{", "*") and after.is_name() and not after.is_word(*_FOLLOWING)
        return begins or self._ends_value(place - 1)

    def _is_name(self, place: int) -> bool:
        """Whether its neighbours show that a word is a name, not a keyword."""
        before, after = self.tokens[place - 1], self.tokens[place + 1]
        if before.is_symbol(*_BEFORE_NAME) or after.is_symbol(*_AFTER_NAME) or after.kind == "edge":
            return True
        # A sign counts as one of a sum only behind a value: it may be of a pattern, of RETURN * or
        # of a label.
        if before.is_symbol("+", "*", "%"):
            return self._is_operand(place - 2)
        if before.is_word("BY") and self.tokens[place - 2].is_word("ORDER"):
            return self._ends_value(place - 3)
        return self._takes_value(place - 1)

    def _is_operand(self, place: int) -> bool:
        """Whether a value ends here that is certainly no pattern."""
        if not self.tokens[place].is_symbol(")"):
            return self._ends_value(place)
        # Before the opening bracket stands the name of a function.
        before = self.openings.get(place, 0) - 1
        return self.tokens[before].is_name() and self._ends_value(before)

    def _takes_value(self, place: int) -> bool:
        """Whether this word is certainly a keyword that a value or a name follows.

        No name can follow a complete value. Elsewhere it is a keyword if the query has no variable
        of its name, and it is no label, property or parameter.
        """
        token, before = self.tokens[place], self.tokens[place - 1]
        word = token.text.upper()
        if not token.is_word(*_NEEDING_VALUE):
            return False
        # A clause follows the DISTINCT of UNION.
        if word == "DISTINCT" and not (before.is_symbol("(") or before.is_word("WITH", "RETURN")):
            return False

        if before.kind == "edge" or self._ends_value(place - 1):
            return True
        if word in self._variables:
            return False
        if before.is_word(*_NEEDING_VALUE) and word not in _BEGINNING_VALUE:
            return (before.text.upper(), word) in _PAIRS
        return not (before.is_symbol(*_BEFORE_LABEL) or before.is_word("IS", "TYPED"))

    @cached_property
    def _variables(self) -> frozenset[str]:
        """All names, in capitals, that the query may introduce as variables."""
        names = set()
        for place, token in enumerate(self.tokens):
            # An escape may spell any of them.
            if token.kind == "quoted" and "\\" in token.text:
                return _NEEDING_VALUE
            if not token.is_name():
                continue

            before, after = self.tokens[place - 1], self.tokens[place + 1]
            in_bracket = before.is_symbol("(", "[")
            is_before_keyword = after.kind == "word" and not after.is_word("WHERE", "IS", "IN")
            is_listed = before.is_word("AS", "YIELD") or before.is_symbol(",")
            if is_listed or after.is_symbol("=") or (in_bracket and not is_before_keyword):
                names.add(token.name().upper())
        return frozenset(names)

    def _ends_value(self, place: int) -> bool:
        """Whether a value, a name or a pattern certainly ends with this token."""
        token = self.tokens[place]
        if token.kind == "word" and token.text.upper() in _LEADING:
            return self.tokens[place - 1].is_symbol(".", "$")
        if token.kind == "symbol":
            return token.text in (")", "]", "}")
        return token.kind != "edge"

    def _check_call(self, place: int) -> None:
        """Refuse procedures that are not in `PROCEDURES`; subqueries pass."""
        position = place + 1
        if self.tokens[position].is_symbol("{", "("):
            return

        parts = []
        while self.tokens[position].is_name():
            parts.append(self.tokens[position].name())
            if not self.tokens[position + 1].is_symbol("."):
                break
            position += 2

        if not parts or parts[0].upper() in _FOLLOWING:
            raise self._refusal(place, "neither a procedure nor a subquery follows it")
        if ".".join(parts) not in PROCEDURES:
            raise refusal(
                self.text,
                self.tokens[place].offset,
                f"CALL {'.'.join(parts)} is refused: it is not on the list of read-only procedures",
                f"Allowed are {', '.join(sorted(PROCEDURES))}.",
            )

    def _check_function(self, place: int) -> None:
        """Refuse functions with a namespace that are not in `FUNCTIONS`; `place` is the bracket."""
        # The name stands before the bracket, and is read from its end.
        position, parts = place - 1, list[str]()
        while self.tokens[position].is_name() and self.tokens[position - 1].is_symbol("."):
            parts.insert(0, self.tokens[position].name())
            position -= 2
        if not parts:
            return

        if self.tokens[position].is_name():
            parts.insert(0, self.tokens[position].name())
            position -= 1
        name = ".".join(parts)
        if parts[0].lower() == "coll":
            raise self._refusal(position + 1, _CYPHER_25, "Write it in Cypher 5.")

        # A procedure has been checked at its CALL.
        is_procedure = self.tokens[position].is_word("CALL") and not self._is_name(position)
        if is_procedure or name.lower() in FUNCTIONS:
            return
        raise refusal(
            self.text,
            self.tokens[position + 1].offset,
            f"the function {name} is refused: it is not on the list of read-only functions",
            f"Allowed are {', '.join(sorted(FUNCTIONS))}, and all without a dot.",
        )

    def _refusal(self, place: int, reason: str, remedy: str | None = None) -> QueryRefusedError:
        token = self.tokens[place]
        word = token.text if len(token.text) <= 40 else f"{token.text[:40]}…"
        if remedy is None:
            remedy = f"If it is meant as a name, write it in backticks: `{word}`."
        return refusal(self.text, token.offset, f"{word} is refused: {reason}", remedy)
