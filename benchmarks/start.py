"""CPU seconds of help and of a Tab, user and system together, the least of several runs.

python -m benchmarks.start [--runs 5]
"""

import argparse
import os
import resource
import subprocess
import sys

COMMANDS: dict[str, str | tuple[str, int]] = {
    "`cobalance --help`": "--help",
    "`cobalance mine --help`": "mine --help",
    "`cobalance ingest --help`": "ingest --help",
    "`cobalance evaluate score --help`": "evaluate score --help",
    "`cobalance annotate label --help`": "annotate label --help",
    "a Tab after `cobalance`": ("cobalance ", 1),
    "a Tab after --concept of `cobalance imbalances`": ("cobalance imbalances x --concept ", 4),
    "a Tab after two dashes of `cobalance evaluate train`": ("cobalance evaluate train x --", 4),
}


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print("| what | CPU s |\n| --- | --- |")
    for what, command in COMMANDS.items():
        print(f"| {what} | {min(_cpu_s(command) for _ in range(runs)):.2f} |", flush=True)


def _cpu_s(command: str | tuple[str, int]) -> float:
    """CPU seconds of a process of its own."""
    environment, arguments = dict(os.environ), []
    if isinstance(command, str):
        arguments = command.split()
    else:
        words, at = command
        environment |= {"COMP_WORDS": words, "COMP_CWORD": str(at)}
        environment["_COBALANCE_COMPLETE"] = "complete_bash"
    code = "import sys; sys.argv[0] = 'cobalance'; from cobalance.app.__main__ import main; main()"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
