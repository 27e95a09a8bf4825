"""Each family of models through a whole job, from the order to the export: `make test-models`.

The models are tiny and their pictures noise, but all code of the real ones runs.
"""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.base.records import Edit
from cobalance.generation.export import ExportOptions
from cobalance.generation.output.chunk_records import read_records
from cobalance.graph.dataset.plans import PlannedQuery
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.export import export_job
from tests.e2e.small_jobs import draw_masks
from tests.tiny.brushnet import save_brushnet
from tests.tiny.diffusion import PIPELINES, save_pipeline
from tests.tiny.other_pipelines import save_other_pipeline

pytestmark = pytest.mark.models

INPAINTING = ("sd-inpaint", "sdxl-inpaint", "sd3", "flux", "flux-fill", "flux-kontext")
INPAINTING += ("flux2-klein", "z-image", "qwen-edit")
EDITING = ("sd-ip2p", "flux-kontext", "flux2-klein", "qwen-edit", "qwen-edit-plus")
SIZE = {"width_px": 48, "height_px": 40}  # that of the sources
# FLUX.2 edits no image of less than 64 pixels.
EDITED_SIZE = {"width_px": 64, "height_px": 64}


def making_of(folder, backend, name):
    """Options of a backend with a tiny model."""
    save = save_pipeline if name in PIPELINES else save_other_pipeline
    making = {"model": str(save(name, folder)), "offline": True, "steps": 1}
    if backend == "brushnet":
        branch = save_brushnet(folder / "branch")
        return making | {"brushnet_model": str(branch), "area_px": 64 * 64}
    return making | (EDITED_SIZE if backend == "instruct" else SIZE)


@pytest.mark.parametrize(
    ("backend", "name"),
    [("inpaint", name) for name in INPAINTING]
    + [("instruct", name) for name in EDITING]
    + [("brushnet", "sd-text2img")],
)
def test_a_family_from_order_to_export(store, loaded, own, work, tmp_path, backend, name):
    making = making_of(tmp_path, backend, name)
    (tmp_path / "masks").mkdir()
    draw_masks(tmp_path / "masks", range(8))
    queries = [
        PlannedQuery(class_name, (), 2, Edit(image, caption=f"a {class_name} road"))
        for image in ("0", "3")
        for class_name in ("country", "urban")
    ]
    settings = {
        "backend": backend,
        "making": making,
        "masks": {"masks": "files", "mask_folder": str(tmp_path / "masks"), "min_share": 0},
        "prompt": "{caption}",
        "filters": {"sanity": {}},
        "chunk_size": 3,
        "seed": "7",
    }

    painted = []
    for _ in range(2):
        job = create_job(store, loaded, "plan", queries, settings=settings)
        work()
        done = read_job(store, job)
        assert (done.state, done.accepted, done.rejected) == ("done", 8, 0), done.error
        rows = list(read_records(OutputFolder(own.folders().output), job))
        painted.append(sorted(read(own, row).tobytes() for row in rows))
        for row in rows:
            check(row, read(own, row), tmp_path, backend)
    # The same seed gives the same images.
    assert painted[0] == painted[1]

    target = tmp_path / "export"
    report = export_job(
        store, own.folders(), done, "imagefolder", target, ExportOptions(), real=False
    )
    # One image of each pair that a source leads to.
    manifest = pd.read_parquet(target / "manifest.parquet")
    assert report.counts["generated images"] == len(manifest) == 2
    for file in manifest["file"]:
        assert np.asarray(Image.open(target / file)).tobytes() in painted[1]


def read(own, row):
    return np.asarray(Image.open(f"{own.folders().output}/{row['path']}"))


def check(row, made, folder, backend):
    """An image has the size that was asked, and all that was to stay."""
    if backend == "instruct":
        assert made.shape == (64, 64, 3)
        assert made.std() > 5
        return

    source = np.asarray(Image.open(folder / "pictures" / row["source_uri"]))
    assert made.shape == source.shape
    changed = (made != source).any(axis=2)
    square = np.zeros(changed.shape, bool)
    square[10:20, 10:20] = True
    if backend == "inpaint":
        assert not changed[square].any()
        assert changed[~square].mean() > 0.9
    else:
        assert not changed[~square].any()
        assert changed[square].mean() > 0.9
