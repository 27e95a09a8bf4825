"""Valid and mutated folders of Hugging Face ``datasets`` for `benchmarks.hostile`."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

Files = dict[str, bytes]
"""Files of a folder by their paths in it."""


def hub_folders() -> dict[str, Files]:
    """What ``save_to_disk`` writes for one dataset and for one of two splits, by name."""
    import datasets

    datasets.disable_progress_bars()
    label = datasets.ClassLabel(names=["bird", "fish"])
    concept = datasets.ClassLabel(names=["água", "sky", "x y"])
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "image_id": datasets.Value("string"),
            "label": label,
            "objects": {
                "bbox": datasets.List(datasets.List(datasets.Value("float32"), length=4)),
                "category": datasets.List(concept),
            },
            "tags": datasets.List(datasets.Value("large_string")),
        }
    )
    rows = [
        {
            "image": {"bytes": b"pixels", "path": f"{number}.jpg"},
            "image_id": f"{number}.jpg",
            "label": number % 2,
            "objects": {
                "bbox": [[1.0, 1.0, 8.0, 8.0]] * (number % 4),
                "category": [0, 1, 2][: number % 4],
            },
            "tags": [None, "a"][: number % 3],
        }
        for number in range(12)
    ]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        whole = datasets.Dataset.from_list(rows, features=features)
        splits = {"train": whole.select(range(8)), "test": whole.select(range(8, 12))}
        for name, saved in {
            "hub-one": whole,
            "hub-splits": datasets.DatasetDict(splits),
            "hub-shards": whole.remove_columns("image"),
        }.items():
            options = {"num_shards": 2} if name == "hub-shards" else {}
            saved.save_to_disk(Path(folder, name), **options)
            found[name] = read_files(Path(folder, name))
    return found


def read_files(folder: Path) -> Files:
    """All files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_files(folder: Path, files: Files) -> None:
    """Write a folder in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def mutated_folder(
    files: Files, random: Random, mutated: Callable[[bytes, Random], bytes]
) -> Files:
    """A folder with one of its files mutated, missing, or in the place of another."""
    name = random.choice(sorted(files))
    match random.randrange(12):
        case 0:
            return {other: content for other, content in files.items() if other != name}
        case 1:
            return {**files, name: files[random.choice(sorted(files))]}
        case _:
            return {**files, name: mutated(files[name], random)}
