"""A dataset whose images stay in Parquet files equals one that was loaded here."""

import os

import pandas as pd
import pytest

from cobalance.base.errors import DataError, InputError, StaleError, UnknownNameError
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.names import class_sizes, split_sizes
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.sampled import write_sampled
from cobalance.graph.dataset.state import Sample
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.graph.queries.overview import read_overview
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.diagnose.mine import mine
from cobalance.workflows.in_files.images import FileImages
from cobalance.workflows.in_files.loading import load_files
from cobalance.workflows.in_files.spark import spark_session
from tests.conftest import HOSTILE

SAMPLE = Sample(3, seed=5)
EVERY = Ranking(limit=10**6)
IMAGES = """
MATCH (i:Image {dataset: $dataset})-[:LABELED]->(y)
RETURN i.id AS id, i.uri AS uri, i.split AS split, i.digest AS digest, y.name AS class_name,
  COLLECT { MATCH (i)-[:CONTAINS]->(c) RETURN c.name ORDER BY c.name } AS concepts ORDER BY id"""


@pytest.fixture(scope="module")
def session():
    with spark_session("local[2]") as running:
        yield running


@pytest.fixture
def files(random_annotations, tmp_path):
    """Annotations, and the same as two Parquet files."""
    annotations = random_annotations(160, seed=3, n_concepts=len(HOSTILE) + 4)
    images, mentions = annotations.images, annotations.mentions
    shown = mentions.groupby("image")["concept"].agg(lambda names: sorted(set(names)))
    table = pd.DataFrame(
        {
            "image_id": images["id"],
            "label": images["class_name"].astype(str),
            "split": images["split"].astype(object),
            "uri": images["uri"].astype(object),
            "concepts": [[*shown.get(row, [])] for row in range(len(images))],
        }
    )
    folder = tmp_path / "images"
    folder.mkdir()
    table[:70].to_parquet(folder / "a.parquet")
    table[70:].to_parquet(folder / "b.parquet")
    return annotations, folder, table


@pytest.fixture(params=["out-of-core", "spark"])
def engine(request, session):
    return request.param


@pytest.fixture
def both(store, dataset, files, engine):
    """The names of a dataset that was loaded in memory, and of one that an engine counted."""
    annotations, folder, _ = files
    here, there = f"{dataset} here", f"{dataset} there"
    write_sampled(store, here, annotations, SAMPLE, source="a test")
    load_files(store, there, str(folder), ReadOptions(), SAMPLE, engine=engine)
    yield here, there
    for name in (here, there):
        drop_dataset(store, name)


def test_counts_and_samples_are_those_of_one_machine(store, both):
    here, there = both
    assert class_sizes(store, there) == class_sizes(store, here)
    assert split_sizes(store, there) == split_sizes(store, here)
    for options in (
        MiningOptions(3, min_support=2, common=()),
        MiningOptions(2, split=next(iter(split_sizes(store, here)))),
    ):
        reports = [mine(store, name, options, max_cliques=10**5) for name in both]
        assert reports[0].by_size == reports[1].by_size
        assert reports[0].left_out == reports[1].left_out
        found, expected = (read_imbalances(store, name, EVERY) for name in (there, here))
        pd.testing.assert_frame_equal(found, expected)
        images, expected_images = (store.read(IMAGES, dataset=name) for name in (there, here))
        assert images
        assert images == expected_images
    found, expected = (read_overview(store, name) for name in (there, here))
    pd.testing.assert_frame_equal(found.concepts, expected.concepts)
    pd.testing.assert_frame_equal(found.edges, expected.edges)


def test_what_takes_the_images_says_where_they_are(store, both):
    _, there = both
    with pytest.raises(DataError, match="keeps a sample"):
        load_incidence(store, there)
    with pytest.raises(DataError, match="keeps a sample"):
        mine(store, there, MiningOptions(2), max_cliques=10**5, engine="memory")
    with pytest.raises(UnknownNameError, match="unknown split 'nowhere'"):
        mine(store, there, MiningOptions(2, split="nowhere"), max_cliques=10**5)


def test_files_that_changed_are_told(store, both, files):
    _, folder, table = files
    table[70:90].to_parquet(folder / "c.parquet")
    with pytest.raises(StaleError, match="have changed since they were loaded"):
        mine(store, both[1], MiningOptions(2), max_cliques=10**5)


def test_files_are_not_read_again_to_see_whether_they_changed(store, both, monkeypatch):
    def read_all(images):
        raise AssertionError("all images were read")

    monkeypatch.setattr(FileImages, "digest", property(read_all))
    assert mine(store, both[1], MiningOptions(2), max_cliques=10**5).created


def test_files_that_changed_behind_their_times_are_told(store, both, files):
    _, folder, table = files
    before = (folder / "a.parquet").stat()
    others = table[:70].assign(label=[*table["label"][1:70], table["label"][0]])
    others.to_parquet(folder / "a.parquet")
    os.utime(folder / "a.parquet", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StaleError, match="have changed since they were loaded"):
        mine(store, both[1], MiningOptions(2), max_cliques=10**5)


def test_files_that_were_only_copied_are_the_same(store, both, files, engine):
    _, folder, _ = files
    content = (folder / "a.parquet").read_bytes()
    (folder / "a.parquet").unlink()
    (folder / "a.parquet").write_bytes(content)
    assert mine(store, both[1], MiningOptions(2), max_cliques=10**5).created

    report, _ = load_files(store, both[1], str(folder), ReadOptions(), SAMPLE, engine=engine)
    assert (report.created, report.unchanged) == (0, 160)


def test_images_in_the_graph_are_counted_by_engines_as_well(store, dataset, files, engine):
    annotations, _, _ = files
    options = MiningOptions(3)
    write_annotations(store, dataset, annotations, source="a test")
    mine_dataset(store, dataset, options, max_cliques=10**5)
    expected = read_imbalances(store, dataset, EVERY)
    report = mine(store, dataset, options, max_cliques=10**5, engine=engine)
    assert (report.created, report.updated, report.deleted) == (0, 0, 0)
    pd.testing.assert_frame_equal(read_imbalances(store, dataset, EVERY), expected)


def test_a_file_of_another_format(store, dataset, engine, tmp_path):
    (tmp_path / "table.csv").write_text("id,label,concepts\n1,a,b\n")
    with pytest.raises(InputError, match=r"table\.csv: cannot be read"):
        load_files(
            store, dataset, str(tmp_path / "table.csv"), ReadOptions(), SAMPLE, engine=engine
        )


def test_ids_that_repeat_are_refused(store, dataset, files, engine, tmp_path):
    files[2].assign(image_id="same").to_parquet(tmp_path / "same.parquet")
    with pytest.raises(InputError, match="159 rows are of images of other rows"):
        load_files(
            store, dataset, str(tmp_path / "same.parquet"), ReadOptions(), SAMPLE, engine=engine
        )
