"""Lists of images that baselines repeat, drop or weight, from the command line and Python."""

import pandas as pd
import pytest

import cobalance as cb
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.resampling import BASELINES, group_images, simulate_baseline
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.read import load_incidence
from cobalance.workflows.plan.resample import resample_dataset

ROWS = """id,class,concepts,split
=1.jpg,man,tie|dog,train
2.jpg,woman,tie|dog,train
3.jpg,woman,tie|dog,train
4.jpg,woman,tie|dog,train
5.jpg,woman,tie,train
6.jpg,man,tie,train
7.jpg,man,tie,train
8.jpg,man,,train
9.jpg,man,dog,test
10.jpg,woman,tie|dog,test
"""


@pytest.fixture
def people(run, dataset, tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    run("ingest", tmp_path / "people.csv", "--dataset", dataset)
    run("mine", dataset, "--split", "train")
    return dataset


def test_the_list_has_the_counts_that_are_simulated(run, people, store, tmp_path):
    file, again = tmp_path / "list.csv", tmp_path / "again.parquet"
    cliques = load_cliques(store, people)
    groups = group_images(cliques, load_incidence(store, people, "train"))
    held = {row.split(",")[0]: row.split(",")[2].split("|") for row in ROWS.splitlines()[1:9]}
    for baseline in BASELINES:
        order = ("resample", people, baseline, "--seed", 3, "--min-size", 1)
        assert "Mine one" not in run(*order, "-f", "csv", "-o", file).stderr
        run(*order, "-f", "parquet", "-o", again)
        found = pd.read_csv(file)
        assert pd.read_parquet(again).astype(str).equals(found.astype(str))
        taken = "weight" if baseline == "weights" else "times"
        assert found.columns.tolist() == ["image", "class", "split", taken]
        assert sorted(found["image"]) == sorted(held)
        simulated = simulate_baseline(cliques, groups, baseline)
        for clique, counts in zip(cliques.names(), simulated.counts.tolist(), strict=True):
            of = found[[set(clique) <= set(held[image]) for image in found["image"]]]
            recount = of.groupby("class")[taken].sum()
            assert [recount.get(name, 0) for name in cliques.classes] == counts
        in_python = resample_dataset(store, people, baseline, PlanOptions(1), 3)[0]
        assert in_python.astype(str).equals(found.astype(str))
    shown = run("resample", people, "over-sampling")
    assert "over-sampling" in shown.stdout
    assert "add -f csv -o FILE" in shown.stderr


def test_lists_of_several_splits_say_so(run, people):
    run("mine", people, "--split", "")
    said = run("resample", people, "weights", "-f", "csv")
    assert "splits test, train together" in said.stderr
    assert said.stdout.count("\n") == 11


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["weights", "--budget", "9"], "No such option: --budget"),
        (["undersampling"], "unknown baseline 'undersampling'"),
    ],
)
def test_what_makes_no_list(run, options, said):
    assert said in run("resample", "people", *options, exit_code=2).stderr


def test_data_in_memory_give_lists_too():
    found = cb.resample(cb.urbancars(), "weights", seed=1)
    assert found.index.name == "id"
    assert found["weight"].mean() == pytest.approx(1)
