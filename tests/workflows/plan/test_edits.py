"""Datasets of counterfactuals: the identity of counts, inheritance, and what is left out."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.export import ExportOptions
from cobalance.generation.output.chunk_records import ChunkRecord
from cobalance.graph.database.query import Statement
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.rebalance import read_accepted
from cobalance.graph.jobs.status import read_job
from cobalance.graph.queries.binding import bind_named
from cobalance.ingest.captions.image_texts import read_image_texts, write_image_texts
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.export import export_job
from cobalance.workflows.rebalance import copy_rebalanced
from cobalance.workflows.record.reading import read_record
from tests.generation.export.conftest import Stores, generated_row

COUNT = Statement(
    "Images of a class that show all of some concepts.",
    """
MATCH (i:Image {dataset: $dataset})-[:LABELED]->(:Class {dataset: $dataset, name: $group})
WHERE all(name IN $concepts WHERE EXISTS {
  (i)-[:CONTAINS]->(:Concept {dataset: $dataset, name: name})
})
RETURN count(i) AS images""",
)
GROUPS = ("man", "woman", "neither", "two of them")


@pytest.fixture
def dataset_of(store, dataset):
    """Write a dataset; drop it and its copy at the end."""

    def write(records):
        write_annotations(store, dataset, Annotations.from_records(records), source="a test")
        return dataset

    yield write
    if find_dataset(store, f"{dataset}-rebalanced") is not None:
        drop_dataset(store, f"{dataset}-rebalanced")


def made_job(store, dataset, records, groups, lost=(), made="all", pasted=None, **settings):
    """A job that asks all groups of each image, and has them but for the lost ones."""
    queries = [
        PlannedQuery(
            group,
            concepts_of(record),
            1,
            Edit(
                record.id, "", (f"a {group}", "a bat"), "" if made == "all" else record.class_name
            ),
        )
        for record in records
        for group in groups
        if made == "all" or group != record.class_name
    ]
    job = create_job(store, dataset, "counterfactuals", queries, settings=settings)
    candidates = {}
    for position, query in enumerate(queries):
        is_lost = (query.edit.source_image, query.class_name) in lost
        candidates[query_id(job, position)] = [
            NewCandidate(
                f"{query_id(job, position)}/0",
                f"{job}/images/{position}-0.png",
                "rejected" if is_lost else "accepted",
                source_image=query.edit.source_image,
                seconds=1.0,
                provenance={"settings": {"patch_image": pasted}} if pasted else {},
            )
        ]
    record_made(store, job, candidates, finish=True)
    return job


def concepts_of(record):
    return tuple(sorted({mention.concept for mention in record.mentions}))


def merged(store, own, job, **result):
    found = read_job(store, job)
    return copy_rebalanced(
        store, own.folders(), found, images=read_accepted(store, job), result=result
    )


@pytest.mark.parametrize("real", ["all", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_every_clique_has_equal_counts_in_all_groups(store, dataset_of, own, real, seed):
    rng = np.random.default_rng(seed)
    groups = GROUPS[: 2 + seed]
    records = [
        ImageRecord(
            f"image {at}",
            str(rng.choice(groups)),
            tuple(Mention(name) for name in "abcde" if rng.random() < 0.5),
            "train",
            f"{at}.jpg",
        )
        for at in range(40)
    ]
    every = [(record.id, group) for record in records for group in groups]
    lost = {pair for pair in every if rng.random() < 0.1}
    dataset = dataset_of(records)
    made = "all" if real == "none" or seed else "others"
    job = made_job(store, dataset, records, groups, lost, made)
    result = merged(store, own, job, real=real)
    complete = [
        record
        for record in records
        if not any(
            (record.id, group) in lost and not (real == "all" and group == record.class_name)
            for group in groups
        )
    ]
    assert 0 < len(complete) < len(records)
    written = read_annotations(store, result.dataset)
    assert len(written.images) == len(complete) * len(groups)
    mine_dataset(store, result.dataset, MiningOptions(5, common=()), max_cliques=1000)
    cliques = load_cliques(store, result.dataset)
    assert set(cliques.classes) == set(groups)
    assert (np.ptp(cliques.counts, axis=1) == 0).all()
    expected = Counter(
        clique
        for record in complete
        for size in range(1, 6)
        for clique in combinations(concepts_of(record), size)
    )
    names = cliques.names()
    assert dict(zip(names, cliques.counts[:, 0].tolist(), strict=True)) == expected
    for clique in names[:: max(1, len(names) // 10)]:  # by Cypher, from the images
        for group in groups:
            rows = store.read(COUNT, dataset=result.dataset, group=group, concepts=list(clique))
            assert rows[0]["images"] == expected[clique]
    assert result.left_out == {
        "edited images without a counterfactual of each group": len(records) - len(complete)
    }


def test_a_counterfactual_has_the_mentions_and_the_split_of_its_source(store, dataset_of, own):
    mentions = (
        Mention("bat", "owl", 0.25),
        Mention("ball", "annotation"),
        Mention("ball", "annotation"),
    )
    records = [
        ImageRecord("1", "man", mentions, "val", "1.jpg"),
        ImageRecord("2", "woman", (), "train", "2.jpg"),
        ImageRecord("3", "man", (Mention("sofa"),), "train", "3.jpg"),
    ]
    dataset = dataset_of(records)
    job = made_job(store, dataset, records[:2], ("man", "woman"))
    result = merged(store, own, job, real="unedited")
    found = {record.id: record for record in read_annotations(store, result.dataset).records()}
    twins = [record for record in found.values() if record.synthetic]
    assert {record.id for record in found.values() if not record.synthetic} == {"3"}
    assert sorted((twin.class_name, twin.split, len(twin.mentions)) for twin in twins) == [
        ("man", "train", 0),
        ("man", "val", 3),
        ("woman", "train", 0),
        ("woman", "val", 3),
    ]
    for twin in twins:
        if twin.split == "val":
            shown = sorted((m.concept, m.source, m.score) for m in twin.mentions)
            assert shown == [
                ("ball", "annotation", None),
                ("ball", "annotation", None),
                ("bat", "owl", 0.25),
            ]
    again = merged(store, own, job, real="unedited").report
    assert (again.created, again.updated, again.deleted, again.unchanged) == (0, 0, 0, 5)


def test_twins_are_found_in_the_graph_and_so_is_who_lacks_one(store, dataset_of, own):
    records = [ImageRecord(f"{at}", "man", (Mention("x"),), None, f"{at}.jpg") for at in range(3)]
    dataset = dataset_of(records)
    job = made_job(store, dataset, records, ("man", "woman"), lost={("1", "woman")})

    def ask(query, **result):
        name = merged(store, own, job, **result).dataset
        found, bound = bind_named(store, query, {"dataset": name})
        return store.read(found.text, **bound)

    pairs = ask("counterfactual-twins", real="none")
    assert [(row["source"], row["source_class"], row["groups"]) for row in pairs] == [
        ("0", None, ["man", "woman"]),
        ("2", None, ["man", "woman"]),
    ]
    assert all(len(set(row["images"])) == 2 for row in pairs)
    assert ask("unpaired-counterfactuals", real="none") == []
    beside = ask("counterfactual-twins", real="all")
    assert [(row["source_class"], row["groups"]) for row in beside] == [("man", ["woman"])] * 2
    assert ask("unpaired-counterfactuals", real="all") == []
    (lacking,) = ask("unpaired-counterfactuals", real="none", incomplete="keep")
    assert lacking == {"source": "1", "source_class": None, "groups": ["man"], "missing": ["woman"]}


def test_recipes_decide_unless_an_option_is_given(store, dataset_of, own):
    records = [ImageRecord(f"{at}", "man", (Mention("x"),), None, f"{at}.jpg") for at in range(3)]
    dataset = dataset_of(records)
    job = made_job(store, dataset, records, ("man", "woman"), lost={("1", "woman")})
    usual = merged(store, own, job)
    assert (usual.real, usual.generated) == (2, 2)
    kept = merged(store, own, job, incomplete="keep")
    assert (kept.real, kept.generated) == (3, 2)
    pairs = merged(store, own, job, recipe="resampled")
    assert (pairs.real, pairs.generated) == (0, 4)
    assert merged(store, own, job, recipe="resampled", real="all").real == 2
    with pytest.raises(UnknownNameError, match="unknown recipe 'resample'"):
        merged(store, own, job, recipe="resample")
    with pytest.raises(UnknownNameError, match="unknown option of the result 'reel'"):
        merged(store, own, job, reel="all")


def test_a_job_that_edits_no_image_takes_no_choice_of_real_ones(store, own, job):
    with pytest.raises(OptionError, match="edits no images, so that all real ones stay"):
        merged(store, own, job, real="none")


def test_counterfactuals_have_edited_captions_and_the_licence_of_their_source(
    store, dataset_of, own
):
    records = [ImageRecord(f"{at}", "man", (Mention("x"),), None, f"{at}.jpg") for at in range(2)]
    dataset = dataset_of(records)
    texts = pd.DataFrame(
        {
            "image": [0, 1],
            "captions": [["a man", "a bat"], ["a man"]],
            "license": ["CC BY 4.0", None],
            "license_url": ["https://creativecommons.org/licenses/by/4.0/", None],
            "attribution": ["by Ann", None],
        },
        dtype=object,
    )
    known = replace(Annotations.from_records(records), texts=texts)
    write_image_texts(own.folders().captions, dataset, known)
    job = made_job(store, dataset, records, ("man", "woman"))
    result = merged(store, own, job, real="all")
    found = read_image_texts(own.folders().captions, result.dataset).set_index("id")
    assert found.loc["0", "captions"] == ["a man", "a bat"]
    twins = [image for image in found.index if image.startswith("generated/")]
    assert len(twins) == 2
    assert found.loc[twins, "captions"].tolist() == [["a woman", "a bat"]] * 2
    assert sorted(found.loc[twins, "license"], key=str) == ["CC BY 4.0", None]
    assert sorted(found.loc[twins, "attribution"], key=str) == [None, "by Ann"]
    drop_dataset(store, result.dataset)
    job = made_job(store, dataset, records, ("man", "woman"), pasted="1")
    result = merged(store, own, job, real="all")
    found = read_image_texts(own.folders().captions, result.dataset).set_index("id")
    twins = [image for image in found.index if image.startswith("generated/")]
    about = ["CC BY 4.0; unknown", "https://creativecommons.org/licenses/by/4.0/; unknown"]
    columns = ["license", "license_url", "attribution"]
    by_source = sorted(found.loc[twins, columns].to_numpy(object).tolist(), key=str)
    assert by_source == [[*about, "by Ann; unknown"], [None] * 3]


@pytest.fixture
def changed_since(store, dataset_of, own):
    """A job of the other group of six men, whose concepts and classes have changed since."""
    concepts = ["ab", "b", "", "c", "abc", "a"]

    def records(classes, shown):
        return [
            ImageRecord(f"{at}", name, tuple(map(Mention, own)), "train", f"{at}.jpg", 16, 12)
            for at, (name, own) in enumerate(zip(classes, shown, strict=True))
        ]

    before = records(["man"] * 6, concepts)
    dataset = dataset_of(before)
    job = made_job(store, dataset, before, ("man", "woman"), made="others")
    classes = ["man", "tree", "man", "tree", "tree", "tree"]  # the commonest is no group
    after = Annotations.from_records(records(classes, ["ac", "b", "abc", "c", "", "a"]))
    write_annotations(store, dataset, after, source="corrected", if_exists="replace")
    output, stores = OutputFolder(own.folders().output), Stores()
    rows = []
    for at, image in enumerate(read_accepted(store, job)):
        planned = concepts_of(before[int(image.source_image)])
        row = generated_row(
            at,
            stores,
            candidate=image.id.removeprefix("generated/"),
            job=job,
            source_image=image.source_image,
            source_class="man",
            concepts=list(planned),
        )
        output.write(str(image.uri), stores.generated[row["path"]])
        rows.append(row | {"path": image.uri, "mask_path": None, "class": "woman"})
    ChunkRecord(output, job, "000-000000").write(rows)
    return job


def test_an_export_and_a_rebalanced_dataset_show_what_sources_show_now(
    store, own, changed_since, tmp_path
):
    merged(store, own, changed_since, real="all")
    found = read_job(store, changed_since)
    written = read_annotations(store, f"{found.dataset}-rebalanced").records()
    in_graph = sorted((one.synthetic, one.class_name, concepts_of(one)) for one in written)
    options = ExportOptions(reference=True)
    export_job(
        store, own.folders(), found, "folder", tmp_path / "out", options, result={"real": "all"}
    )
    table = pd.read_parquet(tmp_path / "out" / "manifest.parquet")
    columns = (table["synthetic"], table["label"], table["concepts"].map(tuple))
    assert sorted(zip(*columns, strict=True)) == in_graph
    still_men = [("a", "b", "c"), ("a", "c")]  # the others have no counterfactual of each group
    assert in_graph == [
        (synthetic, name, shown)
        for synthetic, name in ((False, "man"), (True, "woman"))
        for shown in still_men
    ]
    check_record(tmp_path / "out", table)


def check_record(folder, images):
    """The export's metadata are a record of what is in it: every count, and who made the images."""
    record = read_record(folder / "croissant.json")
    assert record.n_generated == images["synthetic"].sum()
    labels = [activity["prov:label"] for activity in record.activities]
    assert sum(int(label.split(" ")[0]) for label in labels) == record.n_generated

    assert record.class_images == images["label"].value_counts().sort_index().to_dict()
    assert len(record.table) > 0
    for row in record.table.to_dict("records"):
        has_all = images["concepts"].map({*row["concepts"]}.issubset)
        for name in record.class_images:
            assert row[f"count_{name}"] == (has_all & (images["label"] == name)).sum()
    assert "## Biases" in (folder / "README.md").read_text()
