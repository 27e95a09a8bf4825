"""Reject Cypher that is not read-only before it is sent to the database.

Cypher reserves no word: `SET` may be a clause, a label, a property or a variable. So a keyword that
does more than read is refused unless its neighbours show that it is a name, and after the end of a
value only keywords of reading may follow. When in doubt a query is refused, and the message says
how to write the name unambiguously.
"""

from cobalance.graph.console.tokens import Token, refusal, tokenize
from cobalance.graph.errors import QueryRefusedError

MAX_LENGTH = 20_000  # characters
MAX_NESTING = 64  # the server's parser overflows its stack, and never answers, from 200 on
MAX_SUBQUERIES = 12  # curly brackets; 15 nested EXISTS take 0.5 s to compile, 20 over 10 s

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
_MORE_THAN_READING = {
    **dict.fromkeys(("CREATE", "MERGE", "SET", "REMOVE", "DELETE"), _WRITES),
    **dict.fromkeys(("DETACH", "NODETACH", "INSERT", "FOREACH"), _WRITES),
    **dict.fromkeys(("DROP", "ALTER", "RENAME", "GRANT", "DENY", "REVOKE"), _SERVER),
    **dict.fromkeys(("START", "STOP", "SHOW", "TERMINATE", "ENABLE", "DRYRUN"), _SERVER),
    **dict.fromkeys(("REALLOCATE", "DEALLOCATE"), _SERVER),
    "LOAD": "it reads a file or an address through the server",
    "USE": "it leaves the database that this console reads",
    "CYPHER": "it changes how the server compiles",
}
# These are keywords only when one of these words comes next.
_SECOND_WORD = {
    "LOAD": ("CSV",),
    "START": ("DATABASE",),
    "STOP": ("DATABASE",),
    "ENABLE": ("SERVER",),
    "DRYRUN": ("REALLOCATE", "DEALLOCATE"),
    "CYPHER": (),  # only at the start of a query
}
_SCHEMA = ("INDEX", "INDEXES", "CONSTRAINT", "CONSTRAINTS")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# No clause starts right after one of these.
_BEFORE_NAME = _words(". .. : $ ( [ , = < <= >= <> =~ - / ^ | || &")
# No clause's keyword stands right before one of these.
_AFTER_NAME = _words(". .. , ) ] } : :: = < > <= >= <> =~ != | || / ^ %")
# Keywords that may follow a complete value or pattern in a query that reads.
_FOLLOWING = _words("""
    MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER SKIP OFFSET LIMIT UNION CALL YIELD USING FINISH
    AND OR XOR NOT IN IS STARTS ENDS CONTAINS AS WHEN THEN ELSE END ASC ASCENDING DESC DESCENDING
    FROM LIST ARRAY PATH PATHS GROUP GROUPS""")
# Keywords that need a value or a name next, if what is before them is complete.
_NEEDING_VALUE = _words("AS IN AND OR XOR WHERE WITH RETURN UNWIND THEN ELSE")
# Keywords that may stand before a name or a value.
_LEADING = _FOLLOWING | _words("""
    DISTINCT ALL ANY NONE SINGLE CASE BY ON INDEX SEEK SCAN JOIN TEXT RANGE POINT BTREE SHORTEST
    REPEATABLE DIFFERENT ELEMENT ELEMENTS BINDINGS RELATIONSHIP RELATIONSHIPS SHOW
    BOTH LEADING TRAILING TYPED SIGNED LOCAL ZONED TIME TIMESTAMP WITHOUT PROPERTY
    NFC NFD NFKC NFKD""")


def check_read_only(text: str) -> None:
    """Raise unless a query is read-only.

    Allowed are MATCH, WITH, UNWIND, RETURN, UNION, subqueries and CALL of `PROCEDURES`, with all
    their parts, EXPLAIN and PROFILE of them, and SHOW INDEXES and SHOW CONSTRAINTS. A word such as
    SET or CREATE passes as a label, property, parameter or map key, in backticks, and as a variable
    where it cannot be read as a clause.

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
        edge = Token("edge", "", len(text))
        self.text, self.tokens = text, [edge, edge, *tokens, edge, edge, edge]

    def run(self) -> None:
        """Check the first word, the nesting, and each token with its neighbours."""
        start = 3 if self.tokens[2].is_word("EXPLAIN", "PROFILE") else 2
        first = self.tokens[start]
        schema = first.is_word("SHOW") and self.tokens[start + 1].is_word(*_SCHEMA) and start == 2
        if not (first.is_word(*_READS) or schema):
            reason = _MORE_THAN_READING.get(
                first.text.upper(), "a query that reads cannot start with it"
            )
            raise self._refusal(start, reason, f"Start with {', '.join(_READS)}.")
        self._check_nesting()
        for place in range(start + schema, len(self.tokens) - 3):
            token = self.tokens[place]
            if token.is_symbol(";"):
                raise self._refusal(place, "a second statement may follow", "Run one at a time.")
            if token.is_symbol("("):
                self._check_function(place)
            if token.kind == "word":
                self._check_word(place)

    def _check_nesting(self) -> None:
        depth = braces = 0
        for token in self.tokens:
            step = token.is_symbol("(", "[", "{") - token.is_symbol(")", "]", "}")
            depth += step
            braces += step if token.is_symbol("{", "}") else 0
            if depth > MAX_NESTING or braces > MAX_SUBQUERIES:
                raise refusal(
                    self.text,
                    token.offset,
                    f"brackets are nested more than {MAX_NESTING} deep, or curly ones "
                    f"{MAX_SUBQUERIES}, which can stall the server",
                    "Split the query with WITH.",
                )

    def _check_word(self, place: int) -> None:
        if self._is_name(place):
            return
        token, after = self.tokens[place], self.tokens[place + 1]
        word = token.text.upper()
        expected = _SECOND_WORD.get(word)
        if word in _MORE_THAN_READING and (expected is None or after.is_word(*expected)):
            raise self._refusal(place, _MORE_THAN_READING[word])
        if word == "IN" and after.is_word("TRANSACTIONS", "CONCURRENT"):
            raise self._refusal(place, "IN TRANSACTIONS is for changes", "Leave it out.")
        if word == "CALL":
            self._check_call(place)
        elif word not in _FOLLOWING and self._ends_value(place - 1):
            raise self._refusal(place, "it is not a clause or operator of a query that reads")

    def _is_name(self, place: int) -> bool:
        """Whether its neighbours show that a word is a name, not a keyword."""
        before, after = self.tokens[place - 1], self.tokens[place + 1]
        if before.is_symbol(*_BEFORE_NAME) or after.is_symbol(*_AFTER_NAME) or after.kind == "edge":
            return True
        if before.is_word("BY") and self.tokens[place - 2].is_word("ORDER"):
            return self._ends_value(place - 3)
        return before.is_word(*_NEEDING_VALUE) and self._is_complete(place - 2)

    def _is_complete(self, place: int) -> bool:
        """Whether no name can follow this token: the next word is a keyword."""
        return self.tokens[place].kind == "edge" or self._ends_value(place)

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
        parts, at = [], place + 1
        if self.tokens[at].is_symbol("{", "("):
            return
        while self.tokens[at].is_name():
            parts.append(self.tokens[at].name())
            if not self.tokens[at + 1].is_symbol("."):
                break
            at += 2
        if ".".join(parts) not in PROCEDURES:
            raise refusal(
                self.text,
                self.tokens[place].offset,
                f"CALL {'.'.join(parts)} is refused: it is not on the list of read-only procedures",
                f"Allowed are {', '.join(sorted(PROCEDURES))}.",
            )

    def _check_function(self, place: int) -> None:
        """Refuse functions with a namespace that are not in `FUNCTIONS`; `place` is the bracket."""
        at, parts = place - 1, list[str]()
        while self.tokens[at].is_name() and self.tokens[at - 1].is_symbol("."):
            parts.insert(0, self.tokens[at].name())
            at -= 2
        if not parts:
            return
        if self.tokens[at].is_name():
            parts.insert(0, self.tokens[at].name())
            at -= 1
        called = ".".join(parts)
        procedure = self.tokens[at].is_word("CALL") and not self._is_name(at)
        if procedure or called.lower() in FUNCTIONS:
            return  # a procedure has been checked at its CALL
        raise refusal(
            self.text,
            self.tokens[at + 1].offset,
            f"the function {called} is refused: it is not on the list of read-only functions",
            f"Allowed are {', '.join(sorted(FUNCTIONS))}, and all without a dot.",
        )

    def _refusal(self, place: int, reason: str, remedy: str | None = None) -> QueryRefusedError:
        token = self.tokens[place]
        shown = token.text if len(token.text) <= 40 else f"{token.text[:40]}…"
        if remedy is None:
            remedy = f"If it is meant as a name, write it in backticks: `{shown}`."
        return refusal(self.text, token.offset, f"{shown} is refused: {reason}", remedy)
