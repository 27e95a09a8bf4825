"""Run benchmarks, and print the figures that they report: `make bench`."""

import argparse
import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import now, read_figures, show_figures

FOLDER = Path(__file__).parent
COMMANDS = (
    "start",
    "first_compile",
    "mining",
    "neighbours",
    "embeddings",
    "reading",
    "out_of_core --folder benchmarks/data/out-of-core",
    "ingest --keep",
    "web",
    "interactions",
    "clicks",
    "loading",
    "scale",
    "generation --postgres",
    "generation --trivial",
    "best_of",
    "pilot",
    "manifest",
    "counterfactuals",
    "hostile",
    "scores",
    "planning",
    "planning --pace",
    "console",
    "whole_images",
    "properties",
)
"""What `make bench` runs, in this order: `web` reads the dataset that `ingest --keep` leaves."""


def find_benchmarks() -> dict[str, str]:
    """First lines of the docstrings of all modules that can be run, by name."""
    first_lines = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        if 'if __name__ == "__main__":' in text:
            first_lines[path.stem] = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return first_lines


def describe_benchmarks() -> str:
    """The part of the help that lists the benchmarks."""
    usual = {command.split()[0] for command in COMMANDS}
    lines = ["benchmarks (* is run when no name is given):"]
    for name, first_line in find_benchmarks().items():
        lines.append(f"  {'*' if name in usual else ' '} {name:<16} {first_line}")
    lines.append("\nThe options of one: python -m benchmarks.NAME --help")
    return "\n".join(lines)


def chosen_commands(names: Sequence[str]) -> list[str]:
    """The usual commands of the named benchmarks, or of all."""
    if not names:
        return [*COMMANDS]

    commands = []
    for name in dict.fromkeys(names):
        usual = [command for command in COMMANDS if command.split()[0] == name]
        commands += usual or [name]
    return commands


def run(command: str) -> bool:
    """Run a benchmark in a process of its own; returns whether it ended well."""
    print(f"\n== python -m benchmarks.{command}", flush=True)
    name, *options = command.split()
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=False)
    return done.returncode == 0


def main() -> int:
    """Run what is asked for, go on after a failure, and print the table of figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=describe_benchmarks(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, instead of *")
    names = parser.parse_args().names
    unknown = sorted(set(names) - find_benchmarks().keys())
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; --help lists them")

    began = now()
    failures = [command for command in chosen_commands(names) if not run(command)]

    print(f"\n{show_figures(read_figures(), began)}")
    if failures:
        print(f"\nfailed: {', '.join(failures)}", file=sys.stderr)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
