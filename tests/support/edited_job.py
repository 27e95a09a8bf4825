"""A small job that edits real pictures by rule and chooses the best, for pages that show it."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import run_here

GROUPS = ("man", "woman")
BEST_OF = 4
_SIZE = (160, 120)


def draw_picture(at: int) -> tuple[Image.Image, Image.Image]:
    """Draw a figure in a field, another one for each number, and the figure's mask."""
    rng = np.random.default_rng(at)
    field = rng.normal((110, 140, 90), 12, (_SIZE[1], _SIZE[0], 3)).clip(0, 255)
    picture = Image.fromarray(field.astype(np.uint8))
    left = 30 + 20 * (at % 4)
    figure = (left, 35, left + 45, 110)
    ImageDraw.Draw(picture).ellipse(figure, fill=(150, 90, 60))
    mask = Image.new("L", _SIZE)
    ImageDraw.Draw(mask).ellipse(figure, fill=255)
    return picture, mask


def write_pictures(store: GraphStore, dataset: str, folder: Path, ids: list[str]) -> None:
    """Write a dataset of pictures of a figure in a field, and the figures' masks beside them."""
    (folder / "masks").mkdir(parents=True, exist_ok=True)
    records = []
    for at, image in enumerate(ids):
        picture, mask = draw_picture(at)
        picture.save(folder / f"{at}.png")
        mask.save(folder / "masks" / f"{at}.png")
        mentions = (Mention("dog"), Mention("field"))
        group = GROUPS[at % 2]
        records.append(ImageRecord(image, group, mentions, "train", f"{at}.png"))
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)


def order(store: GraphStore, dataset: str, folder: Path, ids: list[str], **settings: object) -> str:
    """Order each picture in each group, the best of four by their colours."""
    queries = [
        PlannedQuery(group, ("dog", "field"), 1, Edit(image, f"a {group} in a field"))
        for image in ids
        for group in GROUPS
    ]
    usual = {
        "backend": "procedural",
        "making": {"paint": "object"},
        "masks": {
            "masks": "files",
            "mask_folder": str(folder / "masks"),
            "mask_pattern": "{stem}.png",
            "min_share": 0,
        },
        "prompt": "{caption}",
        "consent": "The figures are drawn.",
        "filters": {"sanity": {}, "same_colours": {}},
        "best_of": BEST_OF,
        "rank_by": {"same_colours": 1},
        "variants": [{"guidance_scale": scale} for scale in (1.0, 5.0, 9.0, 15.0)],
    }
    return create_job(store, dataset, "twins", queries, settings=usual | settings)


def make(settings: Settings, job: str, folder: Path) -> Settings:
    """Make a job's images as a worker does; give the settings that the images are found with."""
    own = settings.model_copy(
        update={
            "cobalance_output": str(folder / "made"),
            "cobalance_images": (str(folder),),
        }
    )
    run_here(own, [job], f"sqlite:///{folder}/queue.sqlite")
    return own
