"""Small files of labelling tools, and what is read of them."""

import json
from pathlib import Path
from typing import Any

from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions

Rows = dict[str, list[str]]
SIDES = ["x_px", "y_px", "w_px", "h_px"]


def read_files(folder: Path, files: dict[str, Any], path: str = "", **options: Any) -> Any:
    """Annotations of files: text as it is, other values as JSON."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_annotations(folder / path, ReadOptions(**options))


def rows(annotations: Any) -> Rows:
    """Concepts of each image, in their order, each once."""
    concepts: Rows = {name: [] for name in annotations.images["id"]}
    names = annotations.images["id"].tolist()
    for image, concept in annotations.mentions[["image", "concept"]].itertuples(index=False):
        concepts[names[image]].append(concept)
    return {name: sorted({*own_concepts}) for name, own_concepts in concepts.items()}


def boxes(annotations: Any, concept: str) -> list[list[float]]:
    """Boxes of a concept's objects, to a hundredth of a pixel."""
    mentions = annotations.mentions
    return mentions.loc[mentions["concept"] == concept, SIDES].round(2).to_numpy().tolist()
