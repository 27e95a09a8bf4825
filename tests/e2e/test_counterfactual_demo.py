"""Recipe R as `cobalance demo --counterfactual` goes it: files, graph and export."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.app.cli.demo import counterfactual_parts, show
from cobalance.base.errors import ConflictError
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.jobs.status import list_jobs
from cobalance.vision.images.masks import mask
from cobalance.workflows.demo.counterfactual import run_counterfactual_demo
from cobalance.workflows.demo.figure_scenes import NAME, make_scenes
from cobalance.workflows.load.dataset import drop_dataset
from tests.docs.commands import unknown_parts

AUGMENTED, SYNTHETIC = f"{NAME}-augmented", f"{NAME}-synthetic"
BEST_OF = 6


class InterruptedOnceError(Exception):
    pass


@pytest.fixture(scope="module")
def own(settings, store, tmp_path_factory):
    """Settings with places of these tests' own."""
    folder = tmp_path_factory.mktemp("counterfactual")
    found = settings.model_copy(
        update={"cobalance_output": str(folder / "generated"), "cobalance_home": folder / "home"}
        if settings.neo4j_uri is not None
        else {"cobalance_output": str(folder / "generated")}
    )
    yield found
    for name in (NAME, AUGMENTED, SYNTHETIC):
        if find_dataset(store, name) is not None:
            drop_dataset(store, found.folders(), name)


@pytest.fixture(scope="module")
def interrupted(store, own):
    """The job of a run that was interrupted once images began to be made."""

    def interrupt(stage, done, total):
        if stage == "make images":
            raise InterruptedOnceError

    with pytest.raises(InterruptedOnceError):
        run_counterfactual_demo(store, own, progress=interrupt)
    (job,) = list_jobs(store, NAME)
    return job


@pytest.fixture(scope="module")
def found(store, own, interrupted):
    return run_counterfactual_demo(store, own)


@pytest.fixture(scope="module")
def manifest(own, found):
    return pd.read_parquet(Path(own.folders().output) / found.job.id / "manifest.parquet")


@pytest.fixture(scope="module")
def scenes():
    return {str(scene.number): scene for scene in make_scenes()}


def edited(text, group):
    """What becomes of a caption of the demonstration, whose only words of groups are these."""
    words = {"man": ("man", "his"), "woman": ("woman", "her")}
    (other,) = words.keys() - {group}
    for before, after in zip(words[other], words[group], strict=True):
        text = re.sub(rf"\b{before}\b", after, text)
    return text


def counts_from_images(store, dataset):
    """Images of each class by the whole set of things in them."""
    rows = store.read(
        "MATCH (y:Class {dataset: $name})<-[:LABELED]-(i:Image) "
        "OPTIONAL MATCH (i)-[:CONTAINS]->(c:Concept) WITH i, y, c ORDER BY c.name "
        "WITH i, y, collect(c.name) AS things "
        "RETURN y.name AS y, things, i.synthetic AS synthetic, count(*) AS images",
        name=dataset,
    )
    return {(row["y"], tuple(row["things"]), row["synthetic"]): row["images"] for row in rows}


def test_an_interrupted_run_goes_on_and_a_repeated_one_changes_nothing(
    store, own, interrupted, found
):
    assert interrupted.state != "done"
    assert found.job.id == interrupted.id
    again = run_counterfactual_demo(store, own)
    assert again.job.id == found.job.id
    assert (again.mistakes, again.before) == (found.mistakes, found.before)
    for real, outcome in again.outcomes.items():
        assert outcome.counts == found.outcomes[real].counts
        report = outcome.merged.report
        assert (report.created, report.updated, report.deleted) == (0, 0, 0)


def test_whole_pictures_are_chosen_and_the_others_counted(found, scenes):
    sources = set(found.planned.selection.sources["id"])
    words = {"man", "woman"}
    wanted = {
        number
        for number, scene in scenes.items()
        if scene.license == 1
        and len(words & set(" ".join(scene.captions).lower().split())) == 1
        and not any(word in " ".join(scene.captions) for word in ("boy", "child"))
    }
    assert sources == wanted
    assert len(sources) == 66
    assert sum(found.planned.selection.left_out.values()) == 10
    assert len(found.planned.selection.left_out) == 5
    asked = Counter((q.edit.source_image, q.class_name) for q in found.planned.plan.queries)
    assert asked == {(number, group): 1 for number in wanted for group in words}


def test_the_best_candidate_of_each_image_is_chosen(found, manifest):
    assert (found.job.state, found.job.accepted) == ("done", 132)
    assert len(manifest) == 132 * BEST_OF
    for _, rows in manifest.groupby("query"):
        scales = [json.loads(text)["guidance_scale"] for text in rows["settings"]]
        assert Counter(scales) == {7.5: 2, 9.5: 2, 15.0: 2}
        scores = [json.loads(text)["same_colours"]["score"] for text in rows["scores"]]
        order = sorted(zip([-score for score in scores], rows["index"], strict=True))
        accepted = rows[rows["verdict"] == "accepted"]
        assert accepted["index"].tolist() == [order[0][1]]
        assert rows.loc[rows["verdict"] != "accepted", "reason"].str.startswith("Rank ").all()
    flawed = manifest["settings"].map(lambda text: "mistake" in json.loads(text))
    chosen = manifest["verdict"] == "accepted"
    assert 0.1 < flawed.mean() < 0.3
    assert flawed[chosen].mean() < flawed.mean() / 4
    assert (found.mistakes.flawed, found.mistakes.chosen_flawed) == (
        flawed.sum(),
        flawed[chosen].sum(),
    )


def test_figures_are_painted_and_every_other_pixel_stays(own, found, manifest, scenes):
    output = Path(own.folders().output)
    annotations = json.loads((output / "demo" / NAME / "instances.json").read_text())
    groups = {one["id"]: one["name"] for one in annotations["categories"]}
    seconds = []
    for row in manifest[manifest["verdict"] == "accepted"].to_dict("records"):
        number = row["source_image"]
        scene = scenes[number]
        width, height = scene.size_px
        boxes = [
            (one["bbox"][2] * one["bbox"][3], mask(json.dumps(one["segmentation"]), width, height))
            for one in annotations["annotations"]
            if str(one["image_id"]) == number and groups[one["category_id"]] == scene.group
        ]
        boxes.sort(key=lambda pair: -pair[0])
        painted = [shown for at, (area, shown) in enumerate(boxes) if at == 0 or area > 55_000]
        seconds += [len(painted)] * (len(boxes) > 1)
        inside = np.any(painted, axis=0)
        with Image.open(output / "demo" / NAME / scene.file_name) as picture:
            before = np.array(picture)
        with Image.open(output / row["path"]) as picture:
            after = np.array(picture)
        changed = (before != after).any(axis=2)
        assert not (changed & ~inside).any()
        assert changed[inside].mean() > 0.9
    assert sorted(seconds) == [1, 1, 2, 2, 2, 2]


def test_every_set_of_things_is_equally_frequent_in_both_groups(store, found, scenes):
    before = counts_from_images(store, NAME)
    assert sum(before.values()) == 76
    assert {images for (_, things, _), images in before.items() if things == ("cat", "flower")} == {
        10
    }
    sources = [scenes[number] for number in found.planned.selection.sources["id"]]
    wanted = Counter(scene.things for scene in sources)
    for dataset, real in ((AUGMENTED, 66), (SYNTHETIC, 0)):
        counts = counts_from_images(store, dataset)
        assert sum(n for (_, _, synthetic), n in counts.items() if not synthetic) == real
        assert sum(counts.values()) == 132  # n * |G|
        total = Counter()
        for (group, things, _), n in counts.items():
            total[group, things] += n
        for things, n in wanted.items():
            assert total["man", things] == total["woman", things] == n
    for outcome in found.outcomes.values():
        assert outcome.unequal == []
        assert outcome.counts == outcome.by_cypher
        assert len(outcome.counts) == 9
        assert outcome.unpaired == 0


def test_twins_are_of_one_picture_and_its_other_group(store, found, scenes):
    rows = store.read(
        "MATCH (i:Image {dataset: $name}) WHERE i.synthetic MATCH (i)-[:LABELED]->(y:Class) "
        "MATCH (c:Candidate {id: substring(i.id, size('generated/'))}) "
        "MATCH (c)-[:MADE_FOR]->(:JobQuery)-[:EDITS]->(s:Image {dataset: $of}) "
        "RETURN s.id AS source, y.name AS group",
        name=AUGMENTED,
        of=NAME,
    )
    assert len(rows) == 66
    assert all(scenes[row["source"]].group != row["group"] for row in rows)
    for row in found.twins.to_dict("records"):
        assert row["source_class"] == scenes[row["source"]].group
        assert row["groups"] == [{"man": "woman", "woman": "man"}[row["source_class"]]]


def test_the_export_has_edited_captions_licences_and_consent(found, manifest, scenes):
    folder = found.exported
    captions = json.loads((folder / "annotations" / "captions_train.json").read_text())
    texts = {image["id"]: [] for image in captions["images"]}
    for one in captions["annotations"]:
        texts[one["image_id"]].append(one["caption"])
    expected = Counter()
    for row in manifest[manifest["verdict"] == "accepted"].to_dict("records"):
        scene = scenes[row["source_image"]]
        if row["class"] != scene.group:
            expected[tuple(edited(text, row["class"]) for text in scene.captions)] += 1
            expected[scene.captions] += 1
    assert Counter(map(tuple, texts.values())) == expected
    card = (folder / "README.md").read_text()
    assert found.job.settings["consent"] in card
    assert "nobody is depicted" in found.job.settings["consent"]
    assert "CC0 1.0 Universal" in card
    assert "NoDerivs" not in card


def test_what_is_printed_says_what_was_done_and_what_to_try(found, capsys):
    parts = list(counterfactual_parts(found))
    show(parts)
    said = " ".join(capsys.readouterr().out.split())
    assert "Without a model" in said
    assert "edits 66 pictures to show each group: 132 images" in said
    assert "3 images with captions that name more than one group" in said
    assert "nobody is depicted" in said
    assert said.count("equally frequent in all groups, counted by the kernel and by Cypher") == 2
    assert "no picture lacks a group" in said
    for command, purpose in (part for part in parts if isinstance(part, tuple)):
        assert unknown_parts(command) == [], command
        assert purpose


def test_a_dataset_left_from_an_earlier_run_is_named(store, own, found):
    drop_dataset(store, own.folders(), NAME)
    with pytest.raises(ConflictError, match=f"cobalance datasets drop {AUGMENTED}"):
        run_counterfactual_demo(store, own)
