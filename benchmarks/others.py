"""Read what other projects made, and compare with their own readers.

    python -m benchmarks.others FOLDER [--truth PYTHON] [--only PROJECT ...]

FOLDER has a checkout of each project, called as in `PROJECTS`, at its commit; a project that is not
there is left out. Nothing of them is kept here. PYTHON is an interpreter with datumaro 1.13.12 and
pycocotools 2.0.11 installed, which give the counts to compare with.

Each dataset is read in a process of its own that has a minute. It is

- equal if the images, and the images of each label, are as many as its publisher's library counts;
- different if not, with a note of ours that says what was left out or taken otherwise;
- MISREAD if not, without a note;
- read where there is no other count;
- refused with an error of ours, whose sentence is printed;
- a TRACEBACK, or LATE after a minute.

Prints a table of projects and outcomes, and a line for each dataset that is not equal. Exits with 1
if one was misread, late or a traceback. To add a project is a line in `PROJECTS`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 60
OUTCOMES = ("equal", "different", "read", "refused", "MISREAD", "TRACEBACK", "LATE")
NO_CLASS = "all images"
FAILURES = {"MISREAD", "TRACEBACK", "LATE"}


@dataclass(frozen=True)
class Project:
    """A project on GitHub with the places of its datasets."""

    repository: str
    commit: str
    datasets: tuple[str, ...]


PROJECTS = {
    "datumaro": Project(
        "open-edge-platform/datumaro",
        "575c03f4baf4a018159d49c2b4c604cd04d208f5",
        ("tests/assets/*_dataset",),
    ),
    "cvat-datumaro": Project(
        "cvat-ai/datumaro",
        "8970bb7b13d4856d46cdb80a702772dac93a8041",
        ("tests/assets/*_dataset",),
    ),
    "mmpose": Project(
        "open-mmlab/mmpose",
        "759b39c13fea6ba094afc1fa932f51dc1b11cbf9",
        ("tests/data/*/*.json",),
    ),
    "labelformat": Project(
        "lightly-ai/labelformat",
        "ea610f8a0e5128788adfd665ec16c17507c6437f",
        ("tests/fixtures/*/*", "tests/fixtures/*/COCO/*.json"),
    ),
    "darwin-py": Project(
        "v7labs/darwin-py",
        "d591e82e382b8b26a9c0def6b042c518b3758ea8",
        ("e2e_tests/data/import/*", "tests/darwin/data/*.json"),
    ),
    "icevision": Project(
        "airctic/icevision",
        "f7770b8f015539d518fdfb52fd0fe7b96daf08af",
        ("samples/*",),
    ),
    "label-studio-sdk": Project(
        "HumanSignal/label-studio-sdk",
        "97fcff19fa5a010022188ad61d426b5093a4142f",
        ("tests/custom/converter/data/*",),
    ),
    "sahi": Project(
        "obss/sahi",
        "9a4e5696bc7995ffc3c075460e14e2d96ae1b412",
        ("tests/data/coco_*/*.json",),
    ),
}


def find_datasets(folder: Path, project: Project) -> list[Path]:
    """Folders and files of a checkout that may be datasets."""
    return sorted({path for pattern in project.datasets for path in folder.glob(pattern)})


def count_elsewhere(python: str, paths: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """Counts of the publishers' libraries by dataset, which may be below one of the paths."""
    script = Path(__file__).with_name("others_truth.py")
    process = subprocess.run(
        [python, script],
        input=json.dumps([str(path) for path in paths]),
        capture_output=True,
        text=True,
        check=True,
    )
    counts = map(json.loads, process.stdout.splitlines())
    return {Path(count["path"]): count for count in counts}


def read_here(path: Path) -> dict[str, Any]:
    """What `cobalance.read` makes of a dataset: counts and notes, or a refusal, or a traceback."""
    import cobalance as cb

    try:
        data = cb.read(path)
    except cb.CobalanceError as error:
        return {"refused": str(error)}
    frame = data.to_pandas()

    images: Counter[str] = Counter()
    for names in frame["concepts"]:
        images.update(set(names))
    images.update(frame["class_name"].dropna())
    # The class of images that nothing names one of.
    images.pop(NO_CLASS, None)
    return {"images": len(frame), "labels": dict(images), "notes": list(data.notes)}


def read_apart(path: Path) -> dict[str, Any]:
    """As `read_here`, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.others", "--read", str(path)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return {"late": True}
    if process.returncode:
        return {"traceback": (process.stderr.strip().splitlines() or ["no output"])[-1]}
    return dict(json.loads(process.stdout.splitlines()[-1]))


def judge(result: dict[str, Any], counts: dict[str, Any] | None) -> tuple[str, str]:
    """The outcome of a dataset, and why."""
    if "late" in result:
        return "LATE", f"no answer in {LIMIT_S} s"
    if "traceback" in result:
        return "TRACEBACK", result["traceback"]
    if "refused" in result:
        return "refused", result["refused"]

    if counts is None:
        return "read", f"{result['images']} images, {len(result['labels'])} names"
    differences = list(_differences(result, counts))
    if not differences:
        return "equal", ""
    reason = "; ".join(differences[:4])
    if result["notes"]:
        return "different", f"{reason} [{'; '.join(result['notes'])}]"
    return "MISREAD", reason


def _differences(result: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """What two counts say otherwise; names of attributes, which few libraries count, are ours."""
    if result["images"] != counts["images"]:
        yield f"{result['images']} images, not {counts['images']}"
    for name, number in counts["labels"].items():
        if result["labels"].get(name, 0) != number:
            yield f"{name!r} in {result['labels'].get(name, 0)} images, not {number}"
    # Attributes are concepts here, which a note names.
    notes = "; ".join(result["notes"])
    for name in result["labels"]:
        if name not in counts["labels"] and name.partition(":")[0] not in notes:
            yield f"{name!r} is no label of {counts['format']}"


def main() -> None:
    """Read the datasets of all checkouts, and print the outcomes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("--truth", default="", help="an interpreter with datumaro and pycocotools")
    parser.add_argument("--only", nargs="*", default=list(PROJECTS))
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read is not None:
        print(json.dumps(read_here(options.read)))
        return

    table = dict[str, Counter[str]]()
    for name in options.only:
        roots = find_datasets(options.folder / name, PROJECTS[name])
        counts = count_elsewhere(options.truth, roots) if options.truth else {}
        # A folder with datasets of their own is none itself.
        with_own = {root for root in roots for path in counts if root in path.parents}
        paths = sorted({*roots, *counts} - with_own)

        table[name] = Counter()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(read_apart, paths)
            for path, result in zip(paths, results, strict=True):
                outcome, reason = judge(result, counts.get(path))
                table[name][outcome] += 1
                if outcome != "equal":
                    shown = path.relative_to(options.folder)
                    print(f"{outcome}: {shown}: {reason.replace(str(path), shown.name)}")

    print("\nproject".ljust(20), *(outcome.rjust(10) for outcome in OUTCOMES))
    for name, outcomes in table.items():
        print(name.ljust(19), *(str(outcomes[outcome]).rjust(10) for outcome in OUTCOMES))
    sys.exit(any(outcomes[failure] for outcomes in table.values() for failure in FAILURES))


if __name__ == "__main__":
    main()
