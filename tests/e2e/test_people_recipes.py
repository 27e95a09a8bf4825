"""Recipes for people with tiny models: from plans through one worker to new datasets."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import binary_dilation
from scipy.stats import rankdata

from cobalance.generation.output.chunk_records import read_vectors
from cobalance.generation.recipes.pinpoint import SKIN
from cobalance.generation.recipes.resampled_control import BODY_PARTS
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.jobs.status import read_job
from cobalance.ingest.captions.image_texts import read_image_texts
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.load.dataset import drop_dataset
from tests.app.cli.calling import call, spawn
from tests.browser.server import environment_of
from tests.support.manifests import read_manifest
from tests.tiny.brushnet import save_brushnet
from tests.tiny.diffusion import save_pipeline
from tests.tiny.vision import (
    save_clip,
    save_mask2former,
    save_owlv2,
    save_parsing,
    save_safety,
    save_sam,
)

NAME = "people of tiny models"
HELD_OUT = f"{NAME}, held out"
CONTROL = "resampled-control"
GROUPS = ("man", "woman")
SIZES = ((61, 47), (53, 64), (66, 50), (70, 59))
CAPTIONS = (
    {"man": "A man beside a cup.", "woman": "A woman beside a cup."},
    {"man": "A man with his cup.", "woman": "A woman with her cup."},
    {"man": "The man looks at his cup.", "woman": "The woman looks at her cup."},
    {"man": "Two men and a cup.", "woman": "Two women and a cup."},
)
CLASSES = ("man", "woman", "man", "woman")
FIGURES = {
    0: [(8, 6, 24, 30)],
    1: [(20, 9, 25, 40)],
    2: [(11, 7, 30, 35)],
    3: [(5, 8, 20, 40), (36, 12, 26, 42)],
}
"""Boxes of the people in each picture."""
BARE, SEVERAL = 2, 3
"""The picture whose person has a box and no outline, and that of two people."""
LABELS = ("Background", "Hair", "Upper-clothes", *SKIN)
"""Of the published model for parts of people, those that matter here."""
K_REAL, MIN_REAL, K_GROUP, MIN_GROUP = 20, 0.1, 5, 0.4
COMMON = ("--consent", "Nobody is depicted: the figures are drawn.")
ALTERS = (*COMMON, "--alters-real-people")


def noise(seed, size, colour, spread):
    pixels = np.random.default_rng(seed).normal(colour, spread, (size[1], size[0], 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def draw(folder):
    """Write pictures of figures, with their boxes and outlines, and captions beside them."""
    images, annotations, captions = [], [], []
    for at, (size, texts) in enumerate(zip(SIZES, CAPTIONS, strict=True)):
        picture = noise(at, size, (110, 140, 90), 30)
        images.append({"id": at, "file_name": f"{at}.png", "width": size[0], "height": size[1]})
        for category, box in [*((1, box) for box in FIGURES[at]), (2, (2, 2, 5, 5))]:
            left, top, wide, high = box
            right, bottom = left + wide, top + high
            # in the colours that the tiny InstructPix2Pix paints, so that some edits look real
            picture.paste(noise(9 - at, (wide, high), (147, 138, 133), 55), (left, top))
            outline = [[left, top, right, top, right, bottom, left, bottom]]
            found = {"category_id": category, "image_id": at, "id": len(annotations)}
            found |= {"bbox": list(box), "area": wide * high, "iscrowd": 0}
            annotations.append(found | {"segmentation": [] if at == BARE else outline})
        picture.save(folder / f"{at}.png")
        captions.append({"id": at, "image_id": at, "caption": texts[CLASSES[at]]})
    categories = [{"id": 1, "name": "person"}, {"id": 2, "name": "cup"}]
    instances = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "instances.json").write_text(json.dumps(instances))
    (folder / "captions.json").write_text(json.dumps({"images": images, "annotations": captions}))


def boxes_of(at, which=slice(None)):
    """A mask of people's boxes."""
    shown = np.zeros(SIZES[at][::-1], bool)
    for left, top, wide, high in FIGURES[at][which]:
        shown[top : top + high, left : left + wide] = True
    return shown


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {
        "inpaint": save_pipeline("sd-inpaint", folder),
        "base": save_pipeline("sd-text2img", folder),
        "instruct": save_pipeline("sd-ip2p", folder),
        "brushnet": save_brushnet(folder / "brushnet"),
        "clip": save_clip(folder / "clip"),
        "owlv2": save_owlv2(folder / "owlv2"),
        "sam": save_sam(folder / "sam"),
        "people": save_mask2former(folder / "people"),
        "parsing": save_parsing(folder / "parsing", labels=LABELS),
        "safety": save_safety(folder / "safety", threshold=1.0),
    }


@pytest.fixture(scope="module")
def orders(models):
    """What each recipe is given beside its name: tiny models, few steps, few candidates."""
    return {
        "resampled": {
            "making.model": models["inpaint"],
            "making.steps": 2,
            "best_of": 6,
            "segmenter_options.model": models["sam"],
            "filters.clip.model": models["clip"],
            "filters.same_objects.model": models["owlv2"],
            "filters.same_objects.threshold": 0.4,
        },
        "pinpoint": {
            "making.model": models["base"],
            "making.brushnet_model": models["brushnet"],
            "making.steps": 1,
            "making.area_px": 64 * 64,
            "segmenter_options.model": models["people"],
            "segmenter_options.threshold": 0,
            "segmenter_options.min_fit": 0,
            "parts_options.model": models["parsing"],
        },
        "gensynth": {
            "making.model": models["instruct"],
            "making.steps": 2,
            "filters.embedding.model": models["clip"],
            "filters.embedding.k_real": K_REAL,
            "filters.embedding.min_real": MIN_REAL,
            "filters.embedding.k_group": K_GROUP,
            "filters.embedding.min_group": MIN_GROUP,
        },
        "genswap": {},
        CONTROL: {
            "making.model": models["inpaint"],
            "making.steps": 2,
            "segmenter_options.model": models["sam"],
            "parts_options.model": models["parsing"],
        },
    }


@pytest.fixture(scope="module")
def made(settings, store, models, orders, tmp_path_factory):
    """Each recipe's job, made by one worker process, and the dataset that it leads to."""
    folder = tmp_path_factory.mktemp("people")
    draw(folder)
    own = settings.model_copy(
        update={"cobalance_output": str(folder / "generated"), "cobalance_images": (str(folder),)}
    )
    environment = environment_of(settings) | {
        "COBALANCE_OUTPUT": own.cobalance_output,
        "COBALANCE_QUEUE": f"sqlite:///{folder}/queue.sqlite",
        "COBALANCE_IMAGES": str(folder),
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "error",
    }

    def run(*arguments):
        done = (spawn if arguments[0] == "work" else call)(environment, *arguments)
        assert done.returncode == 0, done.stderr
        return done

    captions = folder / "captions.json"
    classes = ("--class-captions", captions, "--class-words", "coco-gb", "--captions", captions)
    for name, split in ((NAME, "train"), (HELD_OUT, "test")):
        run(
            "ingest",
            folder / "instances.json",
            "--dataset",
            name,
            "--assign-split",
            split,
            *classes,
        )
        run("mine", name, "--max-size", 2, "--any-class")
    jobs = {}
    for recipe, changes in orders.items():
        planned = HELD_OUT if recipe == CONTROL else NAME
        run("plan-edits", planned, "--recipe", recipe, "--groups", ",".join(GROUPS))
        given = changes | {"filters.safety.model": models["safety"], "seed": "people"}
        assignments = [
            word for name, value in given.items() for word in ("--set", f"{name}={value}")
        ]
        consent = COMMON if recipe == "resampled" else ALTERS
        ordered = run("enqueue", planned, "--recipe", recipe, *consent, *assignments)
        jobs[recipe] = ordered.stdout.strip()
    worked = run("work", "--until-idle")
    try:
        for recipe, job in jobs.items():
            if recipe != CONTROL:
                run("rebalance", job, "--into", f"{NAME} {recipe}")
        yield own, jobs, worked
    finally:
        for name in (NAME, HELD_OUT, *(f"{NAME} {recipe}" for recipe in orders)):
            if find_dataset(store, name) is not None:
                drop_dataset(store, own.folders(), name)


@pytest.fixture(scope="module")
def rows(store, made):
    """Each recipe's candidates, as its job's manifest has them."""
    own, jobs, worked = made
    output = Path(own.folders().output)
    assert {read_job(store, job).state for job in jobs.values()} == {"done"}, worked.stderr
    frames = {
        recipe: read_manifest(output / job / "manifest.parquet") for recipe, job in jobs.items()
    }
    for frame in frames.values():
        for name in ("settings", "scores"):
            frame[name] = frame[name].map(json.loads)
    return frames


def pixels_of(folder, path):
    with Image.open(Path(folder) / path) as picture:
        return np.asarray(picture)


def before_and_after(own, row):
    """The source's pixels, and whether each has changed."""
    source = pixels_of(own.cobalance_images[0], row["source_uri"])
    return source, (pixels_of(own.folders().output, row["path"]) != source).any(axis=2)


def scores_of(rows, score):
    name, _, detail = score.partition(" ")
    found = [judged[name] for judged in rows["scores"]]
    return np.array([one["details"][detail] if detail else one["score"] for one in found])


def by_query(frame):
    """The candidates that were made, by their source's number and the group asked for."""
    files = frame[frame["path"].notna()]
    for (source, group), found in files.groupby(["source_image", "class"]):
        yield int(source), group, found.sort_values("index").reset_index(drop=True)


def accepted(frame):
    return frame[frame["verdict"] == "accepted"].to_dict("records")


def test_resampled_paints_the_largest_person_and_keeps_the_best(made, rows):
    found = list(by_query(rows["resampled"]))
    assert len(found) == len(SIZES) * len(GROUPS)
    for source, group, each in found:
        assert Counter(one["guidance_scale"] for one in each["settings"]) == {
            7.5: 2,
            9.5: 2,
            15.0: 2,
        }
        assert set(each["prompt"]) == {CAPTIONS[source][group]}
        sums = sum(
            rankdata(-scores_of(each, score))
            for score in ("clip cosine", "same_objects", "same_colours")
        )
        order = sorted(range(len(each)), key=lambda at: (sums[at], at))
        assert each["rank"].tolist() == [order.index(at) + 1 for at in range(len(each))]
        assert each["index"][each["verdict"] == "accepted"].tolist() == [order[0]]
    for row in accepted(rows["resampled"]):
        source = int(row["source_image"])
        mask = pixels_of(made[0].folders().output, row["mask_path"]).astype(bool)
        if source == BARE:  # as the segmenter has it
            assert mask.any()
        else:
            areas = [wide * high for _, _, wide, high in FIGURES[source]]
            largest = areas.index(max(areas))
            assert np.array_equal(mask, boxes_of(source, slice(largest, largest + 1)))
        _, changed = before_and_after(made[0], row)
        assert not (changed & ~mask).any()
        assert changed[mask].mean() > 0.9


def test_pinpoint_paints_the_skin_of_all_people(made, rows, models):
    usual = {"device": "cpu", "offline": True}
    parsing = SEGMENTERS.open("parsing", usual | {"model": str(models["parsing"]), "labels": SKIN})
    people = SEGMENTERS.open(
        "people", usual | {"model": str(models["people"]), "threshold": 0, "min_fit": 0}
    )
    assert Counter(rows["pinpoint"]["class"]) == dict.fromkeys(GROUPS, len(SIZES))
    for row in accepted(rows["pinpoint"]):
        source = int(row["source_image"])
        pixels, changed = before_and_after(made[0], row)
        person = boxes_of(source)
        if source == BARE:
            person = people.segment(pixels, FIGURES[source][0])
        skin = np.logical_or.reduce(list(parsing.parts(pixels).values()))
        expected = binary_dilation(person & skin, np.ones((3, 3), bool))
        assert np.array_equal(pixels_of(made[0].folders().output, row["mask_path"]) > 0, expected)
        assert not (changed & ~expected).any()
        assert changed[expected].mean() > 0.9
        assert row["prompt"] == f"A photo of a {row['class']}"
        assert row["captions"] == [CAPTIONS[source][row["class"]]]
    assert len(accepted(rows["pinpoint"])) == len(SIZES) * len(GROUPS)


def shares(vectors, queries, k, is_counted):
    """Of the k nearest other vectors of each query, the share that counts, by brute force."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distances = 1 - unit @ unit.T
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return {at: np.mean([is_counted(at, one) for one in nearest[at]]) for at in queries}


def test_gensynth_keeps_what_lies_among_real_people_of_the_group(made, rows):
    own, jobs, _ = made
    stored = list(read_vectors(OutputFolder(own.folders().output), jobs["gensynth"], "embedding"))
    sources = {one.source: (one.source_class, one.source_vector) for one in stored}
    names = [*sources, *(one.candidate for one in stored)]
    groups = [*(group for group, _ in sources.values()), *(one.group for one in stored)]
    vectors = np.array([*(one for _, one in sources.values()), *(one.vector for one in stored)])
    vectors, n_real = vectors.astype(np.float64), len(sources)
    edited = range(n_real, len(names))
    p_real = shares(vectors, edited, K_REAL, lambda _, other: other < n_real)
    kept = [*range(n_real), *(at for at in edited if p_real[at] >= MIN_REAL)]
    p_group = shares(
        vectors[kept],
        range(n_real, len(kept)),
        K_GROUP,
        lambda at, other: groups[kept[at]] == groups[kept[other]],
    )
    passed = {names[kept[at]] for at, share in p_group.items() if share >= MIN_GROUP}
    assert len(stored) > len(kept) - n_real > len(passed) > 0, "the job's seed shows all cases"
    shares_of = {names[at]: share for at, share in p_real.items()}
    found = list(by_query(rows["gensynth"]))
    assert {source for source, _, _ in found} == {0, 1, BARE}  # one person
    for _, group, each in found:
        assert Counter(one["guidance_scale"] for one in each["settings"]) == {9.5: 4, 15.0: 4}
        adjective = {"man": "masculine", "woman": "feminine"}[group]
        assert Counter(each["prompt"]) == {
            f"Make this person more {adjective}": 2,
            f"Make this person look like a {group}": 2,
            f"Turn this person into a {group}": 2,
            f"Convert this into a {group}": 2,
        }
        assert np.allclose(scores_of(each, "embedding p_real"), each["candidate"].map(shares_of))
        eligible = [at for at, name in enumerate(each["candidate"]) if name in passed]
        best = sorted(eligible, key=lambda at, each=each: (-shares_of[each["candidate"][at]], at))
        assert each["index"][each["verdict"] == "accepted"].tolist() == best[:1]
        assert each["index"][each["rank"].notna()].tolist() == eligible
        for row in each.to_dict("records"):
            _, changed = before_and_after(own, row)
            box = boxes_of(int(row["source_image"]))
            assert not (changed & ~box).any()
            assert changed[box].mean() > 0.9


def test_genswap_pastes_a_person_of_the_group(made, rows):
    found = {(int(row["source_image"]), row["class"]): row for row in accepted(rows["genswap"])}
    # the only other woman is one of two people
    assert set(found) == {(at, group) for at in (0, 1, BARE) for group in GROUPS} - {(1, "woman")}
    for (source, group), row in found.items():
        patch = int(row["settings"]["patch_image"])
        assert patch != source
        assert CLASSES[patch] == group
        (left, top, wide, high) = FIGURES[patch][0]
        crop = Image.open(Path(made[0].cobalance_images[0]) / f"{patch}.png").crop(
            (left, top, left + wide, top + high)
        )
        _, changed = before_and_after(made[0], row)
        box = boxes_of(source)
        assert not (changed & ~box).any()
        assert changed[box].mean() > 0.9
        pasted = pixels_of(made[0].folders().output, row["path"])[box].astype(float)
        assert np.allclose(pasted.mean(axis=0), np.asarray(crop).mean(axis=(0, 1)), atol=8)


def test_each_dataset_has_whole_groups_and_their_captions(store, made, rows):
    for recipe, frame in rows.items():
        if recipe == CONTROL:
            continue  # its images are to be tested on
        winners = {(int(row["source_image"]), row["class"]): row for row in accepted(frame)}
        whole = [at for at in range(len(SIZES)) if all((at, one) in winners for one in GROUPS)]
        assert whole
        name = f"{NAME} {recipe}"
        images = store.read(
            "MATCH (i:Image {dataset: $name})-[:LABELED]->(y:Class) "
            "RETURN i.id AS id, y.name AS class",
            name=name,
        )
        expected = {
            f"generated/{winners[at, group]['candidate']}": (group, CAPTIONS[at][group])
            for at in whole
            for group in GROUPS
        }
        assert {row["id"]: row["class"] for row in images} == {
            image: group for image, (group, _) in expected.items()
        }
        texts = read_image_texts(made[0].folders().captions, name, expected.keys())
        assert dict(zip(texts["id"], map(list, texts["captions"]), strict=True)) == {
            image: [caption] for image, (_, caption) in expected.items()
        }


def test_control_paints_a_body_part_and_says_who_is_there(made, rows, models):
    labels = {"model": str(models["parsing"]), "labels": BODY_PARTS}
    parsing = SEGMENTERS.open("parsing", {"device": "cpu", "offline": True} | labels)
    frame = rows[CONTROL]
    assert frame["source_image"].is_unique
    painted = accepted(frame)
    assert painted
    for row in painted:
        source = int(row["source_image"])
        assert row["class"] == CLASSES[source]
        assert row["prompt"] == CAPTIONS[source][CLASSES[source]]
        pixels, changed = before_and_after(made[0], row)
        mask = pixels_of(made[0].folders().output, row["mask_path"]).astype(bool)
        assert mask.any()
        assert not (changed & ~mask).any()
        assert changed[mask].mean() > 0.9
        if source != BARE:
            areas = [wide * high for _, _, wide, high in FIGURES[source]]
            largest = areas.index(max(areas))
            person = boxes_of(source, slice(largest, largest + 1))
            parts = [part & person for part in parsing.parts(pixels).values()]
            assert any(np.array_equal(mask, part) for part in parts)
