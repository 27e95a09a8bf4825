"""How function bodies read, as figures of the whole product.

    python -m tests.contract.reading             # today's figures, solid and long functions
    python -m tests.contract.reading --record    # keep figures that are better than before

The figures are per 100 lines of function bodies, docstrings left out, unless they are counts.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.contract.syntax import ROOT, trees

RECORD = Path(__file__).with_name("reading.toml")

# Pronouns, participles and the like: they say that there is a value, and not what it is.
PRONOUNS = frozenset(
    (
        "asked",
        "at",
        "each",
        "found",
        "given",
        "held",
        "it",
        "kept",
        "known",
        "left",
        "made",
        "none",
        "of",
        "one",
        "own",
        "said",
        "shown",
        "some",
        "taken",
        "there",
        "told",
        "wanted",
    )
)
SOLID_LINES = 25  # a screen's half, which nobody reads in one breath
LONG_LINES = 60  # a screen

HIGHER_IS_BETTER = ("blank_lines", "comment_lines")


@dataclass(frozen=True)
class Function:
    """A function's place, and the lines of its body without docstring, stripped."""

    place: str
    lines: tuple[str, ...]
    statements: int

    @property
    def is_solid(self) -> bool:
        """Whether it is long and has no paragraph; one or two statements are a table."""
        airy = any(not line or line.startswith("#") for line in self.lines)
        return len(self.lines) >= SOLID_LINES and self.statements > 2 and not airy

    @property
    def is_long(self) -> bool:
        return len(self.lines) > LONG_LINES


def functions(path: str, tree: ast.Module) -> Iterator[tuple[Function, range]]:
    """Functions of a module with the numbers of their body's lines."""
    source = (ROOT / path).read_text(encoding="utf-8").split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        if not body:
            continue

        # A comment above the first statement belongs to the body.
        before = node.body[0].end_lineno if body is not node.body else body[0].lineno - 1
        numbers = range((before or 0) + 1, (node.end_lineno or 0) + 1)
        lines = tuple(source[number - 1].strip() for number in numbers)
        yield Function(f"{path}:{node.lineno} {node.name}", lines, len(node.body)), numbers


def all_functions() -> list[Function]:
    return [
        function
        for path, tree in trees("cobalance").items()
        for function, _ in functions(path, tree)
    ]


@cache
def measure() -> dict[str, float]:
    """Today's figures."""
    body_lines = blank = comments = comprehensions = ternaries = names = pronouns = stars = 0
    solid = long = 0

    for path, tree in trees("cobalance").items():
        line_texts: dict[int, str] = {}  # of nested functions once
        for function, numbers in functions(path, tree):
            line_texts |= zip(numbers, function.lines, strict=True)
            solid += function.is_solid
            long += function.is_long

        body_lines += len(line_texts)
        blank += sum(not line for line in line_texts.values())
        comments += sum(line.startswith("#") for line in line_texts.values())

        for node in ast.walk(tree):
            match node:
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    comprehensions += 1
                case ast.IfExp():
                    ternaries += 1
                case ast.Starred(value=ast.Tuple() | ast.List()):
                    stars += 1
                case ast.Name(ctx=ast.Store()):
                    names += 1
                    pronouns += node.id in PRONOUNS

    per_hundred = 100 / body_lines
    return {
        "blank_lines": round(blank * per_hundred, 1),
        "comment_lines": round(comments * per_hundred, 1),
        "comprehensions": round(comprehensions * per_hundred, 1),
        "ternaries": round(ternaries * per_hundred, 1),
        "pronoun_names_percent": round(100 * pronouns / names, 1),
        "solid_functions": solid,
        "long_functions": long,
        "stars_over_literals": stars,
    }


def recorded() -> dict[str, float]:
    return tomllib.loads(RECORD.read_text(encoding="utf-8"))


def is_worse(name: str, today: float, before: float) -> bool:
    return today < before if name in HIGHER_IS_BETTER else today > before


def record() -> None:
    """Write today's figures where they are not worse than the record's."""
    before = recorded() if RECORD.exists() else {}
    lines = [
        "# How function bodies read: figures that may only get better. `python -m"
        " tests.contract.reading --record` keeps better ones."
    ]
    for name, today in measure().items():
        best = before[name] if name in before and is_worse(name, today, before[name]) else today
        lines.append(f"{name} = {best}")
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    faulty = [function for function in all_functions() if function.is_solid or function.is_long]
    faulty.sort(key=lambda function: len(function.lines), reverse=True)
    lines = [f"{len(function.lines):4} lines  {function.place}" for function in faulty]
    lines += [f"{name} {value:g}" for name, value in measure().items()]
    sys.stdout.write("\n".join(lines) + "\n")

    if "--record" in sys.argv:
        record()


if __name__ == "__main__":
    main()
