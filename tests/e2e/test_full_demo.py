"""The whole way, as `cobalance demo --full` goes it: with the real queue, filters and graph."""

from pathlib import Path

import pandas as pd
import pytest

from cobalance.app.cli.demo import full_parts, show
from cobalance.base.errors import ConflictError
from cobalance.base.progress import silent
from cobalance.generation.export import ExportOptions
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.dataset.state import find_dataset, list_datasets
from cobalance.graph.evaluations.reading import list_evaluations
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.workflows.demo.full import BASE, GENERATED, LINES, run_full_demo
from cobalance.workflows.demo.removal import claim_name, remove_demos
from cobalance.workflows.export import write_export
from cobalance.workflows.load.dataset import load_dataset

DATASETS = ("digits", "digits-rebalanced", "digits-held-out")


@pytest.fixture
def own(settings, store, tmp_path, monkeypatch):
    """Settings with places of this test's own."""
    monkeypatch.setenv("COBALANCE_HOME", str(settings.cobalance_home))
    yield settings.model_copy(update={"cobalance_output": str(tmp_path / "generated")})
    for name in DATASETS:
        if find_dataset(store, name) is not None:
            drop_dataset(store, name)


def test_every_planned_gap_closes_and_the_classifier_gains(store, own, dataset, capsys):
    output = Path(own.folders().output)
    found = run_full_demo(store, own, seeds=[0])
    (made,) = found.results
    assert (made.job.state, made.job.accepted) == ("done", made.planned.plan.images)
    assert made.planned.plan.images > 500
    totals = made.change.totals()
    assert totals["leaning_before"] > 20
    assert totals["leaning_after"] == made.change.planned == 0
    by_counts = compare_imbalances(store, made.dataset, made.rebalanced).summary
    assert by_counts["total_gap_before"].sum() > 1000
    assert by_counts["total_gap_after"].sum() == 0
    # From the images themselves, and not from what was mined.
    rows = store.read(
        "MATCH (y:Class {dataset: $name})<-[:LABELED]-(i:Image) "
        "MATCH (a:Concept)<-[:CONTAINS]-(i)-[:CONTAINS]->(b:Concept) WHERE a.name <= b.name "
        "RETURN a.name AS a, b.name AS b, y.name AS y, count(DISTINCT i) AS images",
        name=made.rebalanced,
    )
    counts = {}
    for row in rows:
        counts.setdefault((row["a"], row["b"]), {})[row["y"]] = row["images"]
    assert len(counts) > 20
    assert all(of["eight"] == of["three"] for of in counts.values())

    by_name = found.accuracies.set_index("training")
    assert list(by_name.index) == [line.title for line in LINES]
    base, made_images = by_name.loc[BASE.title], made.job.accepted
    assert base["images"] == 800
    assert by_name.loc[GENERATED.title, "images"] == 800 + made_images
    assert by_name.loc["the generated images alone", "images"] == made_images
    assert base["ood"] < 0.35  # it follows the background
    for line in LINES:
        if line.method in ("over-sampling", "upweight", "group-dro", "dfr") or line == GENERATED:
            assert by_name.loc[line.title, "ood"] >= base["ood"] + 0.10, line.title
    assert by_name.loc[GENERATED.title, "cb"] > base["cb"]
    assert by_name.loc[GENERATED.title, "worst"] > base["worst"]

    # Each model is kept as an evaluation, and Cypher alone names the job that helped.
    kept = list_evaluations(store, "digits-held-out")
    assert len(kept) == len(LINES)
    assert not any(one.outdated for one in kept)
    asked = {"dataset": "digits-rebalanced", "metric": "worst_group"}
    query, bound = bind_named(store, "what-helped", asked)
    helped = pd.DataFrame(store.read(query.text, **bound)).set_index("images")
    assert set(helped["job"]) == {made.job.id}
    assert set(helped["planner"]) == {"conbias"}
    assert set(helped["backend"]) == {"procedural"}
    augmented = helped.loc["augmented"]
    assert augmented["before"] == pytest.approx(by_name.loc[BASE.title, "worst"])
    assert augmented["after"] == pytest.approx(by_name.loc[GENERATED.title, "worst"])
    assert augmented["interval"][0] > 0.3

    show(full_parts(found))
    said = capsys.readouterr().out
    assert "over-sampled" in said
    assert "DFR" in said

    # Removed, it leaves nothing but what is one's own; the name of a demonstration can be that.
    mine = read_annotations(store, "digits")
    claim_name(store, dataset)
    load_dataset(store, own.folders(), dataset, mine, source="me")
    made_of = output / made.job.id, output / "evaluations", output / "demo"
    assert all(any(folder.rglob("*.*")) for folder in made_of)
    exported = write_export(
        store, own.folders(), made.job, "coco", ExportOptions(), real=False, result={},
        progress=silent,
    )  # fmt: skip
    assert exported.zip_file is not None
    assert exported.zip_file.exists()
    removed = remove_demos(store, own.folders())
    assert {*DATASETS} <= {*removed}  # and those that other tests had demonstrated
    assert list_datasets(store).query("dataset == @dataset")["demo"].tolist() == [False]
    assert not {*DATASETS}.intersection(list_datasets(store)["dataset"])
    assert not any(path.is_file() for folder in made_of for path in folder.rglob("*"))
    assert not any(own.folders().exports.iterdir())
    assert remove_demos(store, own.folders()) == []
    rename_dataset(store, dataset, "digits")
    with pytest.raises(ConflictError, match="needs the name 'digits'"):
        run_full_demo(store, own, seeds=[0])
    drop_dataset(store, "digits")
