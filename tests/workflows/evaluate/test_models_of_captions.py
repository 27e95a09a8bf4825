"""CLIP and a captioner: ordered, fine-tuned and scored on a dataset with captions."""

from dataclasses import replace

import pandas as pd
from PIL import Image

from cobalance.base.progress import silent
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.evaluations.reading import read_evaluation, read_scores
from cobalance.ingest.captions.image_texts import write_image_texts
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.order import EvaluationOrder, order_evaluations
from cobalance.workflows.evaluate.stored import read_saved_predictions
from cobalance.workflows.evaluate.train import run_evaluation
from tests.tiny.captioned import save_blip
from tests.tiny.vision import save_clip
from tests.workflows.evaluate.conftest import EVEN, picture


def test_clip_and_captioner(store, own, animals, tmp_path):
    own = own.model_copy(update={"cobalance_home": tmp_path / "home"})
    held = read_annotations(store, animals)
    words = {"cat": "a man with a square", "dog": "a woman with a square"}
    texts = pd.DataFrame(
        {
            "image": range(len(held.images)),
            "captions": [[words[name]] for name in held.images["class_name"]],
            **dict.fromkeys(("license", "license_url", "attribution")),
        }
    )
    write_image_texts(own.folders().captions, animals, replace(held, texts=texts))
    clip, blip = save_clip(tmp_path / "clip"), save_blip(tmp_path / "blip")
    folder = tmp_path / "labelled"
    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        Image.fromarray(picture(name, "grass", 3)).save(folder / name / "one.png")
    common = {"device": "cpu", "offline": True, "batch_size": 32}
    found = {}
    for method, options in (
        ("clip", {"model": str(clip), "epochs": 2, "folder": str(folder), **common}),
        (
            "captioner",
            {
                "model": str(blip),
                "scorer": str(clip),
                "epochs": 12,
                "learning_rate": 5e-3,
                **common,
            },
        ),
    ):
        order = EvaluationOrder(
            (animals,), methods=(method,), seeds=(0,), shortcuts="none", method_options=options
        )
        ordered = order_evaluations(store, order)
        assert ordered.extras == ("train",)
        found[method] = ordered.ids[0]
        run_evaluation(lambda ask: ask(store), own.folders(), ordered.ids[0], silent)
    settings = {name: read_evaluation(store, one).settings for name, one in found.items()}
    assert settings["clip"]["validation_share"] == 0
    assert settings["captioner"]["validation_share"] == 0.2
    output = OutputFolder(own.folders().output)
    tables = {
        name: read_saved_predictions(output, read_evaluation(store, one))
        for name, one in found.items()
    }
    assert len(tables["clip"]) == len(tables["captioner"]) == sum(EVEN.values())
    scores = {name: read_scores(store, [one]) for name, one in found.items()}
    right = (tables["clip"]["class_name"] == tables["clip"]["predicted"]).mean()
    of_clip = scores["clip"].set_index(["metric", "group"])["value"]
    assert of_clip["accuracy", ""] == right
    assert of_clip["folder_accuracy", ""] in (0, 0.5, 1)
    assert set(of_clip["self_similarity"].index) == {"cat", "dog"}
    assert tables["captioner"]["caption"].str.endswith("square").all()
    assert {"lic", "ratio", "clip_score"} <= set(scores["captioner"]["metric"])
