"""First lines are what a colleague would say, and functions are named by verbs or nouns."""

import ast
import re
from collections.abc import Iterator

from tests.contract.syntax import trees

IDIOM = re.compile(
    r"\b(what|whatever|those (of|that|there)|is none|are none|as it may be)\b", re.IGNORECASE
)
MOST = 60
"""How many first lines may be built on it."""

ALONE = re.compile(
    r"again|alone|apart|away|here|now|once|then|there|together"
    r"|begun|born|broken|built|chosen|done|drawn|driven|eaten|fallen|found|given|gone|grown|heard"
    r"|held|hidden|kept|known|laid|left|lost|made|meant|met|paid|put|read_back|said|seen|sent"
    r"|shaken|shown|sold|spent|spoken|stood|taken|thrown|told|understood|won|worn|written"
    r"|(?!(embed|feed|need|seed|speed|exceed|proceed|succeed)$)[a-z]+ed"
)
"""Participles and adverbs; others that end in -ed are verbs and nouns."""


def definitions(package: str) -> Iterator[tuple[str, ast.AST]]:
    for path, tree in trees(package).items():
        for node in ast.walk(tree):
            yield f"{path}:{getattr(node, 'lineno', 1)}", node


def test_first_lines_are_in_plain_words():
    found = [
        f"{place}: {line[0]}"
        for place, node in definitions("cobalance")
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if (line := (ast.get_docstring(node) or "").splitlines()[:1])
        if IDIOM.search(line[0])
    ]
    assert len(found) <= MOST, "\n".join(found)


def test_no_function_below_the_front_ends_is_a_participle_or_adverb_alone():
    packages = (
        "base",
        "counting",
        "statistics",
        "vision",
        "graph",
        "ingest",
        "generation",
        "evaluation",
        "annotation",
        "workflows",
    )
    found = [
        f"{place}: {node.name}"
        for package in packages
        for place, node in definitions(f"cobalance/{package}")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if not any("property" in ast.unparse(one) for one in node.decorator_list)
        if ALONE.fullmatch(node.name.strip("_"))
    ]
    assert found == []


def test_the_rules_find_what_they_forbid():
    assert IDIOM.search("What a worker sees to: that jobs get on")
    assert not IDIOM.search("Requeue chunks of dead workers")
    assert all(map(ALONE.fullmatch, ("told", "shown", "there", "evened", "read_back")))
    assert not any(map(ALONE.fullmatch, ("describe", "seed", "found_images", "imbalances")))
