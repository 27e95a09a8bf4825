"""Fine-tuning CLIP: losses, seeds, interruption, and what it predicts without training on it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from transformers import CLIPModel

from cobalance.base.errors import (
    ConflictError,
    DataError,
    InputError,
    JobBlockedError,
    OptionError,
)
from cobalance.evaluation.metrics.bias.markedness import (
    person_preference,
    prompt_similarities,
    self_similarity,
)
from cobalance.evaluation.metrics.group_accuracy import group_accuracy
from cobalance.evaluation.metrics.opportunity_gap import opportunity_gap_of_predictions
from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.training.data.examples import code_examples
from cobalance.evaluation.training.data.reading import read_folder_images
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.presets import PRESETS
from cobalance.evaluation.training.profiling import profile_folder, profile_groups
from cobalance.evaluation.training.run import Recipe, Trained, predict, train_run
from cobalance.evaluation.training.tuning.clip import ZeroShotClip, open_clip, tune_clip
from cobalance.evaluation.training.tuning.options import ClipTuningOptions
from tests.tiny.captioned import captioned
from tests.tiny.open_clip import save_as_open_clip
from tests.tiny.vision import save_clip

Tune = Callable[..., ZeroShotClip]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_clip(tmp_path_factory.mktemp("clip") / "tiny")


@pytest.fixture(scope="module")
def settings(folder: Path) -> dict[str, Any]:
    return {
        "model": str(folder), "offline": True, "device": "cpu",
        "batch_size": 8, "epochs": 3, "learning_rate": 1e-3,
    }  # fmt: skip


@pytest.fixture(scope="module")
def tune(settings: dict[str, Any]) -> Tune:
    def tuned(seed: int = 0, run: Run | None = None, **changed: Any) -> ZeroShotClip:
        options = ClipTuningOptions(**{**settings, **changed})
        return tune_clip(options, captioned(), captioned(8, 5), run or Run(seed))

    return tuned


@pytest.fixture(scope="module")
def tuned(tune: Tune) -> ZeroShotClip:
    return tune(epochs=8)


def same(a: ZeroShotClip, b: ZeroShotClip) -> bool:
    first, second = a.vision.model.state_dict(), b.vision.model.state_dict()
    return all(torch.equal(values, second[name]) for name, values in first.items())


def test_lowers_the_loss(tuned: ZeroShotClip, folder: Path) -> None:
    losses = tuned.about["losses"]
    assert len(losses) == 8
    assert losses[-1] < 0.8 * losses[0]
    before = open_clip(ClipTuningOptions(model=str(folder), device="cpu"))
    test = captioned(16, 9)
    pixels = before.vision.pixels(test.read(np.arange(16)))
    texts = [some[0] for some in test.captions]
    with torch.inference_mode():
        assert tuned.loss(pixels, texts) < before.loss(pixels, texts)


def test_loss_is_that_of_transformers(tuned: ZeroShotClip) -> None:
    test = captioned(6, 2)
    pixels = tuned.vision.pixels(test.read(np.arange(6)))
    texts = [some[1] for some in test.captions]
    tokens = tuned.tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        found = tuned.loss(pixels, texts)
        wanted = tuned.vision.model(**tokens, pixel_values=pixels, return_loss=True).loss
    torch.testing.assert_close(found, wanted)


def test_seed_decides(tune: Tune) -> None:
    test = captioned(6, 2)
    first, again, other = (tune(seed, epochs=1) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.probabilities(test), again.probabilities(test))
    assert not np.allclose(first.probabilities(test), other.probabilities(test))


class InterruptedRunError(Exception):
    """Ends a run from inside."""


@pytest.mark.parametrize("select", ["last", "loss"])
def test_goes_on_to_equal_weights(
    tune: Tune, settings: dict[str, Any], tmp_path: Path, select: str
) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        if done == 2:
            raise InterruptedRunError

    whole = tune(select=select)
    with pytest.raises(InterruptedRunError):
        tune(run=Run(0, tmp_path, stop), select=select)
    cut = tune(run=Run(0, tmp_path), select=select)
    assert same(whole, cut)
    assert whole.about == cut.about
    assert [one.name for one in (tmp_path / "seed-0").iterdir()] == ["model"]
    kept = tune(run=Run(0, tmp_path), select=select)
    assert same(whole, kept)
    with pytest.raises(ConflictError, match="other data or settings"):
        tune(run=Run(0, tmp_path), select=select, learning_rate=1e-4)
    loaded = open_clip(ClipTuningOptions(model=str(tmp_path / "seed-0/model"), device="cpu"))
    assert same(whole, loaded)


def brute_force(model: ZeroShotClip, images: Examples) -> np.ndarray:
    """Class of each image by itself, with transformers' own scores."""
    clip: CLIPModel = model.vision.model
    found = []
    for row in range(len(images)):
        scores = []
        for name in images.classes:
            tokens = model.tokenizer(f"a photo of a {name}", return_tensors="pt")
            pixels = model.vision.pixels(images.read(np.array([row])))
            with torch.inference_mode():
                scores.append(clip(**tokens, pixel_values=pixels).logits_per_image.item())
        found.append(np.exp(scores) / np.exp(scores).sum())
    return np.array(found)


def test_zero_shot_accuracy_and_recall_by_group(tuned: ZeroShotClip) -> None:
    """As on FACET: recall of each class in each group of people."""
    test = captioned(30, 4)
    wanted = brute_force(tuned, test)
    np.testing.assert_allclose(tuned.probabilities(test), wanted, atol=1e-5)
    table = check_predictions(predict(tuned, test, seed=0, method="clip"))
    right = wanted.argmax(axis=1) == test.labels
    assert (table["predicted"] == table["class_name"]).tolist() == right.tolist()
    people = np.where(test.domains == 1, "woman", "man")
    groups = pd.DataFrame({"image": test.ids, "person": people})
    recalls = group_accuracy(table, groups).set_index("group")["value"]
    for label, name in enumerate(test.classes):
        for person in ("man", "woman"):
            rows = (test.labels == label) & (people == person)
            assert recalls[f"{name}, person {person}"] == pytest.approx(right[rows].mean())
    gap = opportunity_gap_of_predictions(table, groups).set_index("metric")["value"]
    wanted_gap = sum(
        abs(recalls[f"{name}, person man"] - recalls[f"{name}, person woman"])
        for name in test.classes
    )
    assert gap["opportunity_gap"] == pytest.approx(100 * wanted_gap)


def test_zero_shot_accuracy_on_a_labelled_folder(tuned: ZeroShotClip, tmp_path: Path) -> None:
    test = captioned(12, 8)
    for row, image in enumerate(test.read(np.arange(12))):
        path = tmp_path / test.classes[test.labels[row]] / f"{row:02}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(image).save(path)
    (tmp_path / "red" / "notes.txt").write_text("none of the images")
    images = read_folder_images(tmp_path)
    coded = code_examples({"test": images}, classes=test.classes)["test"]
    table = predict(tuned, coded, seed=0, method="clip")
    right = brute_force(tuned, test).argmax(axis=1) == test.labels
    by_file = {
        f"{test.classes[label]}/{row:02}.png": bool(right[row])
        for row, label in enumerate(test.labels)
    }
    found = (table["predicted"] == table["class_name"]).tolist()
    assert dict(zip(table["image"], found, strict=True)) == by_file
    with pytest.raises(InputError, match="no images in subfolders"):
        read_folder_images(tmp_path / "red")


def test_scores_of_a_folder_of_classes_and_groups(tuned: ZeroShotClip, tmp_path: Path) -> None:
    """As FACET's occupations and groups: all that Pinpoint reports, by brute force."""
    test = captioned(16, 9)
    people = np.where(test.domains == 1, "woman", "man")
    for row, image in enumerate(test.read(np.arange(16))):
        path = tmp_path / test.classes[test.labels[row]] / people[row] / f"{row}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path)
    scores = profile_folder(tuned, tmp_path).set_index(["metric", "group"])["value"]
    right = brute_force(tuned, test).argmax(axis=1) == test.labels
    assert scores["folder_accuracy", ""] == pytest.approx(right.mean())
    recalls = {
        (name, person): right[(test.labels == label) & (people == person)].mean()
        for label, name in enumerate(test.classes)
        for person in ("man", "woman")
    }
    for (name, person), recall in recalls.items():
        found = scores["folder_group_accuracy", f"{name}, person {person}"]
        assert found == pytest.approx(recall)
    wanted = sum(abs(recalls[name, "man"] - recalls[name, "woman"]) for name in test.classes)
    assert scores["folder_opportunity_gap", "person"] == pytest.approx(100 * wanted)
    units = tuned.features(test)
    for person in ("man", "woman"):
        own = units[people == person]
        pairs = [own[i] @ own[j] for i in range(len(own)) for j in range(len(own)) if i != j]
        assert scores["folder_self_similarity", person] == pytest.approx(np.mean(pairs))
        neutral, named = tuned.embed_texts(["a photo of a person", f"a photo of a {person}"])
        share = (own @ neutral > own @ named).mean()
        assert scores["folder_person_preference", person] == share
    of_classes = profile_groups(tuned, test, [test.classes[label] for label in test.labels])
    assert set(of_classes["metric"]) == {"self_similarity"}  # red and blue are no people
    next(tmp_path.glob("red/man/*.png")).rename(tmp_path / "red" / "alone.png")
    with pytest.raises(InputError, match=r"alone\.png.*in no group"):
        profile_folder(tuned, tmp_path)


def test_markedness_of_embeddings(tuned: ZeroShotClip) -> None:
    test = captioned(10, 6)
    people = np.where(test.domains == 1, "woman", "man").tolist()
    embeddings = tuned.features(test)
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1)
    alike = self_similarity(embeddings, people).set_index("group")["value"]
    pairs = [
        embeddings[a] @ embeddings[b]
        for a in range(10)
        for b in range(10)
        if a != b and people[a] == people[b] == "man"
    ]
    assert alike["man"] == pytest.approx(np.mean(pairs))
    prompts = {name: f"a photo of a {name}" for name in ("person", "man", "woman")}
    texts = tuned.embed_texts(list(prompts.values()))
    cosines = prompt_similarities(embeddings, dict(zip(prompts, texts, strict=True)))
    np.testing.assert_allclose(cosines.to_numpy(), embeddings @ texts.T)
    shares = person_preference(cosines, people).set_index("group")["value"]
    won = [
        embeddings[row] @ texts[0] > embeddings[row] @ texts[1]
        for row in range(10)
        if people[row] == "man"
    ]
    assert shares["man"] == pytest.approx(np.mean(won))


def test_as_a_method(settings: dict[str, Any], tmp_path: Path) -> None:
    recipe = Recipe("clip", {**settings, "epochs": 1})
    done: Trained = train_run(recipe, Run(0, tmp_path), captioned(), None, captioned(6, 2))
    assert done.predictions.columns.tolist() == [
        "image", "class_name", "predicted", "p_red", "p_blue", "seed", "method"
    ]  # fmt: skip
    assert done.record["learner"] is None
    assert done.record["method_options"]["epochs"] == 1
    assert done.record["model"]["pairs"] == 24


def test_refusals(settings: dict[str, Any], tmp_path: Path) -> None:
    few = replace(captioned(4), captions=[["a red square"], [], [], []])
    options = ClipTuningOptions(**settings)
    with pytest.raises(DataError, match="1 of 4 training images have captions"):
        tune_clip(options, few, None, Run(0))
    with pytest.raises(DataError, match="0 of 4 training"):
        tune_clip(options, replace(few, captions=()), None, Run(0))
    with pytest.raises(OptionError, match="there are none"):
        tune_clip(options.model_copy(update={"select": "loss"}), captioned(), None, Run(0))
    with pytest.raises(OptionError, match="underflow in float16"):
        Recipe("clip", {**settings, "dtype": "float16"}).check()
    with pytest.raises(JobBlockedError, match="is not on this machine"):
        open_clip(ClipTuningOptions(model="nobody/none", offline=True))
    with pytest.raises(JobBlockedError, match="is not here"):
        open_clip(ClipTuningOptions(model=str(tmp_path / "none")))
    with pytest.raises(OptionError, match="no last layer"):
        open_clip(options).with_head(np.ones((2, 2)), np.ones(2))


def test_files_of_open_clip_are_read_as_those_of_transformers(folder: Path, tmp_path: Path) -> None:
    quick = save_as_open_clip(folder, tmp_path / "quick", quick_gelu=True)
    options = {"model": str(quick), "layout": "open_clip", "device": "cpu"}
    opened = open_clip(ClipTuningOptions(**options))
    expected = open_clip(ClipTuningOptions(model=str(folder), device="cpu"))
    assert same(opened, expected)
    test = captioned(4, 9)
    np.testing.assert_allclose(opened.features(test), expected.features(test), atol=1e-6)
    texts = ["a photo of a cat", "a dog"]
    np.testing.assert_allclose(opened.embed_texts(texts), expected.embed_texts(texts), atol=1e-6)
    plain = save_as_open_clip(folder, tmp_path / "plain")
    exact = open_clip(ClipTuningOptions(**options | {"model": str(plain)}))
    assert exact.vision.model.config.text_config.hidden_act == "gelu"
    assert exact.vision.model.config.vision_config.hidden_act == "gelu"
    assert not np.allclose(exact.features(test), expected.features(test), atol=1e-6)
    run = Run(0, tmp_path / "run")
    settings = options | {"batch_size": 8, "epochs": 1}
    tuned = tune_clip(ClipTuningOptions(**settings), captioned(), None, run)
    kept = open_clip(ClipTuningOptions(model=str(tmp_path / "run/seed-0/model"), device="cpu"))
    assert same(tuned, kept)
    for changed, said in (
        ({"model": str(folder)}, "has no open_clip_config.json"),
        ({"weights_file": "other.safetensors"}, "has no other.safetensors"),
        ({"model": str(save_as_open_clip(folder, tmp_path / "b", text_cfg={}))}, "describes no"),
    ):
        with pytest.raises(JobBlockedError, match=said):
            open_clip(ClipTuningOptions(**options | changed))
    for changed, said in (
        ({"weights_file": "model.bin"}, "are no name of"),
        ({"revision": "main"}, "has no revision"),
    ):
        with pytest.raises(OptionError, match=said):
            open_clip(ClipTuningOptions(**options | changed))


def test_the_preset_of_the_paper_names_its_clip() -> None:
    options = METHODS.check("clip", PRESETS["pinpoint"].method_options["clip"])
    assert options.model_dump()["layout"] == "open_clip"
    assert (options.model_dump()["epochs"], options.model_dump()["learning_rate"]) == (30, 5e-5)
