"""Bias records: valid Croissant, the same numbers when read back, and what was not seen."""

import json
from dataclasses import replace

import mlcroissant
import numpy as np
import pytest
from scipy import stats

from cobalance.base.errors import ConflictError, DataError, InputError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.workflows.diagnose.mine import mine
from cobalance.workflows.gate.subjects import from_annotations
from cobalance.workflows.record.card import bias_sentences, card_section, limit_sentences
from cobalance.workflows.record.document import write_document
from cobalance.workflows.record.examination import examine_subject
from cobalance.workflows.record.reading import read_record
from cobalance.workflows.record.stored import examine_dataset, load_record

# https://github.com/mlcommons/croissant/blob/main/docs/croissant_rai.ttl
RAI = {
    "dataCollection",
    "dataCollectionType",
    "dataCollectionMissingData",
    "dataCollectionRawData",
    "dataCollectionTimeframe",
    "dataPreprocessingProtocol",
    "dataImputationProtocol",
    "dataManipulationProtocol",
    "dataReleaseMaintenancePlan",
    "personalSensitiveInformation",
    "dataAnnotationProtocol",
    "dataAnnotationPlatform",
    "dataAnnotationAnalysis",
    "annotationsPerItem",
    "annotatorDemographics",
    "machineAnnotationTools",
    "dataSocialImpact",
    "dataBiases",
    "dataLimitations",
    "dataUseCases",
}
RATES = {
    "a small cow": (0.45, 0.05, 0.05),
    "sign | post": (0.3, 0.3, 0.3),
    'the "tree"': (0.5, 0.4, 0.5),
    "boat": (0.0, 0.0, 0.2),
}
SIZES = {"farm": 400, "Sea side": 250, "town": 90}


def drawn(*, clusters=False):
    """Images of three classes of unequal sizes; boat is in none of two of them."""
    rng = np.random.default_rng(4)
    images = []
    for code, (class_name, n) in enumerate(SIZES.items()):
        for number in range(n):
            shown = [name for name, rates in RATES.items() if rng.random() < rates[code]]
            split = ("train", "test")[number % 2]
            cluster = f"{class_name} {number // 4}" if clusters else None
            image = ImageRecord(
                f"{class_name} {number}", class_name, tuple(map(Mention, shown)), split
            )
            images.append(replace(image, cluster=cluster))
    return Annotations.from_records(images)


def examined(*, clusters=False):
    subject = from_annotations(drawn(clusters=clusters), "my cars.csv")
    return examine_subject(subject, "cobalance record 'my cars.csv'")


def written(tmp_path, record):
    file = tmp_path / "bias.json"
    file.write_bytes(write_document(record))
    return file


@pytest.mark.parametrize("clusters", [False, True])
def test_what_is_read_back_is_what_was_written(tmp_path, clusters):
    record = examined(clusters=clusters)
    file = written(tmp_path, record)
    again = read_record(file)
    assert write_document(again) == file.read_bytes()
    assert again.table.equals(record.table)
    assert again.leans.equals(record.leans)
    assert len(again.leans) > 0
    assert (again.n_across > 0) == clusters


@pytest.mark.filterwarnings(
    "ignore:ConjunctiveGraph is deprecated:DeprecationWarning", "ignore:The inplace keyword"
)
def test_croissants_own_reader_gives_every_number(tmp_path):
    record = examined()
    file = written(tmp_path, record)
    dataset = mlcroissant.Dataset(str(file))
    assert dataset.metadata.ctx.issues.errors == set()
    assert "http://mlcommons.org/croissant/1.1" in json.loads(file.read_text())["conformsTo"]

    leans = list(dataset.records("bias_leans"))
    rows = record.leans.to_dict("records")
    assert len(leans) == len(rows)
    for lean, row in zip(leans, rows, strict=True):
        assert tuple(lean["bias_leans/concepts"]) == row["concepts"]
        names = record.cliques.classes
        assert lean["bias_leans/images"] == [row[f"count_{name}"] for name in names]
        assert lean["bias_leans/rates"] == [row[f"rate_{name}"] for name in names]
        for name in ("p_value", "q_value", "effect", "log_odds_ratio_low", "highest_rate"):
            assert lean[f"bias_leans/{name}"] == row[name]
    combinations = list(dataset.records("bias_combinations"))
    assert len(combinations) == len(record.cliques)


def test_every_count_is_that_of_the_images():
    record = examined()
    images = drawn()
    shown = [set(concepts) for concepts in images.concepts_by_image()]
    labels = images.images["class_name"].tolist()
    for row in record.table.to_dict("records"):
        for name, n in SIZES.items():
            expected = sum(
                label == name and {*row["concepts"]} <= concepts
                for label, concepts in zip(labels, shown, strict=True)
            )
            assert row[f"count_{name}"] == expected
            assert row[f"rate_{name}"] == expected / n


def test_properties_are_of_the_vocabulary_of_responsible_ai(tmp_path):
    content = json.loads(written(tmp_path, examined()).read_text())
    properties = {name.removeprefix("rai:") for name in content if name.startswith("rai:")}
    assert properties <= RAI
    assert {"dataBiases", "dataLimitations"} <= properties
    assert "http://mlcommons.org/croissant/RAI/1.0" in content["conformsTo"]


def test_sentences_say_what_leans_and_what_was_not_seen():
    record = examined()
    first, strongest, *_ = bias_sentences(record)
    n = len(record.leans)
    assert first == f"{n} of {len(record.cliques)} combinations lean."
    row = record.leans.iloc[0]
    assert strongest.startswith(f"{' + '.join(row['concepts'])} is in ")
    limits = " ".join(limit_sentences(record))
    assert "were not measured" in limits
    assert "80 of 100 such datasets would show a difference of " in limits


def test_the_smallest_difference_is_seen_in_four_of_five_samples():
    """By the noncentral chi-square distribution, from the cells of the table."""
    record = examined()
    p_enough = record.leans["p_value"].max()
    sizes = np.array([record.class_images[name] for name in record.cliques.classes])
    for share, pair, difference in record.smallest_differences():
        rates = np.full(3, share)
        first, second = (record.cliques.classes.index(name) for name in pair)
        rates[first] += difference / 2
        rates[second] -= difference / 2
        mean = (rates * sizes).sum() / sizes.sum()
        # The distance of the expected counts from equal rates, at the share that was asked about.
        spread = (sizes * (rates - mean) ** 2).sum() / (share * (1 - share))
        power = stats.ncx2.sf(stats.chi2.isf(p_enough, 2), 2, spread)
        assert power == pytest.approx(0.8, abs=0.002)


def test_a_card_has_the_table_for_article_10():
    section = card_section(examined())
    assert section.startswith("## Biases\n")
    assert "| a small cow | farm " in section
    for letter in "abcdefgh":
        assert f"| 2 ({letter}) " in section
    # A name with a bar in it stays in its cell.
    assert all(line.replace("\\|", "").count("|") in (0, 4, 5) for line in section.splitlines())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('"bias_classes/images": 400', '"bias_classes/images": 4'), "than its class"),
        (('"bias_classes/images": 400', '"bias_classes/images": -1'), "is no whole number"),
        (('"bias_classes/images": 400', '"bias_classes/images": 0.5'), "is no whole number"),
        (("bias_combinations/concepts", "bias_combinations/names"), "is no bias record"),
        (('"recordSet"', '"records"'), "is no bias record"),
        (("{", "["), "is no bias record"),
    ],
)
def test_a_damaged_record_is_refused(tmp_path, change, reason):
    file = written(tmp_path, examined())
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    with pytest.raises(InputError, match=reason):
        read_record(file)


def test_a_missing_record_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_record(tmp_path / "none.json")


@pytest.fixture
def mined(store, dataset):
    """Images of the store, mined to three concepts; and no dataset of counts afterwards."""
    write_annotations(store, dataset, drawn(), source="a test")
    mine_dataset(store, dataset, MiningOptions(3), max_cliques=1000)
    yield dataset
    if find_dataset(store, f"{dataset} counts") is not None:
        drop_dataset(store, f"{dataset} counts")


def test_a_dataset_goes_into_a_record_and_back(store, settings, mined, tmp_path):
    record = examine_dataset(store, settings.folders(), mined)
    everything = Ranking(limit=1000)
    in_graph = read_imbalances(store, mined, everything)
    assert len(in_graph) == len(record.cliques)
    assert record.n_generated == 0
    # Some class never shows boats, so that no combination has them.
    boats = [text for text in bias_sentences(record) if text.startswith("boat is in ")]
    assert len(boats) == 1
    assert "and in no image of Sea side; it is in none of the combinations" in boats[0]

    file = written(tmp_path, record)
    counts = f"{mined} counts"
    load_record(store, counts, read_record(file), source=file.name)
    assert read_imbalances(store, counts, everything).equals(in_graph)
    assert find_dataset(store, counts).is_mined
    again = load_record(store, counts, read_record(file), source=file.name)
    assert again.unchanged == sum(SIZES.values())

    # Counts alone are recorded as they were.
    second = examine_dataset(store, settings.folders(), counts)
    assert second.table.equals(record.table)
    with pytest.raises(DataError, match="and the graph keeps its counts alone"):
        mine(store, counts, MiningOptions(2), max_cliques=1000)


def test_a_record_takes_the_place_of_no_images(store, mined, tmp_path):
    record = read_record(written(tmp_path, examined()))
    with pytest.raises(ConflictError, match="has all images of"):
        load_record(store, mined, record, source="bias.json")
    load_record(store, f"{mined} counts", record, source="bias.json")
    other = replace(record, n_left_out=1)
    with pytest.raises(ConflictError, match="other images"):
        load_record(store, f"{mined} counts", other, source="bias.json")
    load_record(store, f"{mined} counts", other, source="bias.json", if_exists="replace")
