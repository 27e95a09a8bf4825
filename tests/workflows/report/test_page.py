"""A report's numbers against counts of the records, and that it is safe and needs nothing else."""

import math
import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from random import Random

import pandas as pd
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.binding import bind_named
from cobalance.statistics.comparison import STATUSES
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.plan.summaries import describe_worth, plan_table
from cobalance.workflows.report import markup
from cobalance.workflows.report.contents import ReportOptions, read_contents
from cobalance.workflows.report.page import method, page
from tests.support import unequal
from tests.workflows.report.conftest import CLASSES, CONCEPTS, SIZES, images
from tests.workflows.report.reading import Read


def shown(name):
    """A name as a person reads it in a table."""
    visible = name.replace("\u202e", "\\u202e")
    return visible if len(visible) <= 60 else visible[:59] + "…"


def counts_of(records):
    """Images of each class that show each concept or pair."""
    found = {}
    for record in records:
        names = sorted(mention.concept for mention in record.mentions)
        for size in (1, 2):
            for clique in combinations(names, size):
                found.setdefault(clique, Counter())[record.class_name] += 1
    return found


COUNTS = counts_of(images())
BY_TEXT = {" + ".join(map(shown, clique)): clique for clique in COUNTS}


def test_the_dataset_is_told(read):
    listed = read.table("Images of each class")
    assert {row["class"]: row["images"] for row in listed} == {
        shown(name): str(n) for name, n in zip(CLASSES, SIZES, strict=True)
    }
    splits = Counter(record.split or "none" for record in images())
    rows = read.table("Images of each split")
    assert {row["split"]: int(row["images"]) for row in rows} == splits
    told = "".join(read.texts)
    assert f"{sum(SIZES)} in 3 classes" in told
    assert "Counted in all images: cliques of up to 2 concepts that every class shows." in told
    assert "s3://key:***@bucket/<file>.csv" in told


def test_imbalances_are_those_of_the_records(read):
    rows = read.table("The first 20 combinations by evidence")
    proven = [row["q-value"] == "<0.001" or float(row["q-value"]) <= 0.05 for row in rows]
    assert proven == sorted(proven, reverse=True)
    differences = []
    for row in rows:
        counts = COUNTS[BY_TEXT[row["concepts"]]]
        assert int(row["count gap (ConBias)"]) == max(counts[n] for n in CLASSES) - min(
            counts[n] for n in CLASSES
        )
        rates = [Fraction(counts[name], size) for name, size in zip(CLASSES, SIZES, strict=True)]
        differences.append(float(max(rates) - min(rates)))
        lead = shown(CLASSES[rates.index(max(rates))])
        last = shown(CLASSES[rates.index(min(rates))])
        assert row["rate difference"] == f"+{float(max(rates) - min(rates)):.1%} {lead} vs {last}"
        for label, edge in (("most", max), ("too few", min)):
            of = [counts[name] for name in CLASSES]
            assert row[label] == shown(CLASSES[of.index(edge(of))])
        few, most = (
            rates[[counts[n] for n in CLASSES].index(edge(counts[n] for n in CLASSES))]
            for edge in (min, max)
        )
        assert (row["counts and rates"] == "fewer images, higher rate") is (few > most)
    for part in (True, False):
        of = [
            value for value, is_proven in zip(differences, proven, strict=True) if is_proven is part
        ]
        assert of == pytest.approx(sorted(of, reverse=True))
    for row in rows + read.table("What of each imbalance is its own"):
        counts = COUNTS[BY_TEXT[row["concepts"]]]
        for name, size in zip(CLASSES, SIZES, strict=True):
            n = counts[name]
            assert row[shown(name)] == str(n)
            assert row[f"% of {shown(name)}"] == f"{n / size:.1%}"
        sized = [(counts[name], size) for name, size in zip(CLASSES, SIZES, strict=True)]
        (a, of_a), (b, of_b) = (
            max(sized, key=lambda one: Fraction(*one)),
            min(sized, key=lambda one: Fraction(*one)),
        )
        half = 0.5 if min(a, of_a - a, b, of_b - b) == 0 else 0
        cells = [n + half for n in (a, of_a - a, b, of_b - b)]
        odds = cells[0] * cells[3] / (cells[1] * cells[2])
        width = 1.959964 * math.sqrt(sum(1 / cell for cell in cells))
        numbers = [float(n) for n in re.findall(r"[\d.]+", row["odds ratio [interval]"])]
        ends = [odds, odds * math.exp(-width), odds * math.exp(width)]
        for number, end in zip(numbers, ends, strict=True):
            assert number == pytest.approx(end, abs=0.006 if end < 100 else 0.6)


def test_before_and_after_counts_what_leans(read, contents):
    compared = contents.comparison
    rows = read.table("By number of concepts")
    for status in STATUSES:
        assert sum(int(row[status]) for row in rows) == (compared.cliques["status"] == status).sum()
    for row, of_size in zip(rows, compared.summary.to_dict("records"), strict=True):
        before, after = of_size["leaning_before"], of_size["leaning_after"]
        assert row["lean to a class"] == f"{before} → {after}"

    after = counts_of(images(90))
    sizes = [Counter(record.class_name for record in images(more)) for more in (0, 90)]
    for change in read.table("Combinations that change most"):
        clique = BY_TEXT[change["concepts"]]
        rates = [
            [Fraction(counts[clique][name], of[name]) for name in CLASSES]
            for counts, of in zip((COUNTS, after), sizes, strict=True)
        ]
        differences = [f"{float(max(rate) - min(rate)):.1%}" for rate in rates]
        assert change["rate difference"] == " → ".join(differences)


def test_the_method_is_that_of_the_tables(contents):
    told = " ".join(method(contents))
    assert "compares the class with the highest rate of a combination with the class with" in told
    assert "that of Freeman and Halton" in told
    assert "fisher each class" in told
    assert "lost its lean: leaned to a class before, and does not any more" in told
    assert "Closed" not in told
    by_counts = " ".join(
        method(replace(contents, comparison=replace(contents.comparison, by="counts")))
    )
    assert "solved: a gap before, and none any more" in by_counts
    assert "lost its lean" not in by_counts


def test_plan_closes_the_gaps_it_says(read, contents, store):
    rows = read.table("Images to make of each class")
    query, bound = bind_named(
        store, "plan-queries", {"dataset": contents.dataset, "plan": "small", "limit": 10_000}
    )
    planned = Counter()
    for row in store.read(query.text, **bound):
        planned[shown(row["class"])] += row["n"]
    assert {row["class"]: int(row["images"].replace(",", "")) for row in rows} == planned
    remain = read.table("The largest gaps, and what the plan leaves")
    assert all(row["gap"].endswith("→ 0") for row in remain)
    assert len(remain) == 20


def test_a_plan_of_rates_is_told_by_rates(store, hostile):
    """As `cobalance plan` has it: by evidence and rates, and not by gaps in images."""
    name = hostile[0]
    planned = plan_dataset(store, name, "whole-images", PlanOptions(1, 2, budget=60), "even")
    found = Read(page(read_contents(store, name, ReportOptions(plan="even"))).encode())
    rows = found.table("Combinations before and after the plan")
    shown_there = plan_table(planned).astype(str).to_dict("records")
    assert rows == shown_there
    assert {"lean to a class", "rate differences of those that leaned"} <= {*rows[0]}
    told = "".join(found.texts)
    assert describe_worth(planned.measures) in told
    assert "The plan balances rates" in told
    assert "Sum of gaps" not in told
    assert not any(caption.startswith("The largest gaps") for caption in found.tables)


def test_scores_have_their_intervals(read):
    assert read.table("Scores") == [
        {"metric": "accuracy", "group": "all", "value": "0.750", "95% interval": "[0.700, 0.800]",
         "images": "40"},
        {"metric": "worst_group", "group": "<u>", "value": "0.500", "95% interval": "-",
         "images": "-"},
    ]  # fmt: skip


def test_every_saved_query_answers_with_the_parameters_it_is_listed_with(contents, store):
    for source in contents.sources:
        if source.name:
            query, bound = bind_named(store, source.name, source.parameters)
            assert query.text == source.text
            assert store.read(query.text, **bound)
        else:
            assert store.read(source.text, **source.parameters)
    assert {"imbalances", "clique", "plan-coverage", "classes"} <= {
        s.name for s in contents.sources
    }


def test_nothing_is_loaded_and_no_name_is_markup(read, contents):
    content = page(contents)
    tags = {tag for tag, _ in read.elements}
    assert not tags & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "a",
        "b",
        "i",
        "u",
        "image",
        "use",
    }
    for tag, attributes in read.elements:
        assert not {"src", "href", "xlink:href", "style", "srcset", "data"} & {*attributes}, tag
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in content
    assert "@import" not in content
    assert "\u202e" not in content
    (policy,) = (a["content"] for tag, a in read.elements if "http-equiv" in a)
    style = content.partition("<style>")[2].partition("</style>")[0]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert policy.split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]
    wanted = {shown(name) for name in (*CLASSES, *CONCEPTS)}
    assert wanted <= {text.strip() for text in read.texts}


def test_tables_have_captions_and_headers_with_scopes(read):
    cells = [attributes.get("scope") for tag, attributes in read.elements if tag == "th"]
    assert set(cells) == {"col", "row"}
    assert sum(tag == "table" for tag, _ in read.elements) == len(read.tables)
    labels = [a.get("aria-label") for tag, a in read.elements if tag == "svg" and "role" in a]
    assert len(labels) == 2
    assert all(labels)


def test_plot_goes_from_minus_one_to_one_with_every_disc_where_its_skew_is(read, contents):
    ticks = [text for text in read.texts if text in ("−1", "−0.5", "0", "+0.5", "+1")]
    assert ticks[:5] == ["−1", "−0.5", "0", "+0.5", "+1"]
    discs = [a for tag, a in read.elements if tag == "circle" and a.get("class", "")[0:1] == "f"]
    discs = [a for a in discs if a["r"] == "7"]
    assert len(discs) == len(contents.strongest)
    for disc, row in zip(discs, contents.strongest.to_dict("records"), strict=True):
        counts = COUNTS[row["concepts"]]
        sizes = dict(zip(CLASSES, SIZES, strict=True))
        lead = max(CLASSES, key=lambda name: counts[name] / sizes[name])
        rate = counts[lead] / sizes[lead]
        rest = sum(counts[n] for n in CLASSES if n != lead) / (sum(SIZES) - sizes[lead])
        wanted = (rate - rest) / (rate + rest)
        assert float(disc["cx"]) == pytest.approx(535 + 245 * wanted, abs=0.06)


def test_equal_contents_are_equal_bytes_but_for_the_date(contents):
    assert page(contents) == page(replace(contents))
    later = page(replace(contents, date="2027-05-06"))
    changed = [
        pair
        for pair in zip(page(contents).splitlines(), later.splitlines(), strict=True)
        if pair[0] != pair[1]
    ]
    assert len(changed) == 1
    assert "2027-05-06" in changed[0][1]


def test_a_dataset_without_imbalances_says_why(contents):
    none = contents.largest.head(0)
    totals = replace(contents.totals, concepts=0, cliques=0, imbalanced=0)
    empty = replace(
        contents, own=none, largest=none, totals=totals, comparison=None, plan=None,
        evaluation=None, mining=MiningOptions(2),
    )  # fmt: skip
    told = "".join(Read(page(empty).encode()).texts)
    assert "No concept is shown by every class" in told
    left_out = replace(contents, left_out=["3 of 9 concepts are left out."])
    assert "3 of 9 concepts are left out." in "".join(Read(page(left_out).encode()).texts)


def test_nothing_is_the_strongest_where_all_classes_are_alike(contents):
    totals = replace(contents.totals, imbalanced=0, leaning=0, unproven=0)
    alike = replace(contents, standing=0, own=contents.own.head(0), totals=totals)
    told = "".join(Read(page(alike).encode()).texts)
    assert "strongest" not in told
    assert f"Of {totals.cliques} combinations of concepts 0 lean to a class" in told


def test_audits_say_which_imbalances_they_support(contents):
    largest = contents.largest.assign(audit=["supported", None] * 10)
    counts = pd.DataFrame(
        {
            "concepts": [("<u>sky</u>",)],
            "class_name": ["gull"],
            "labelled": [120],
            "corrected": [101.4],
            "low": [90.2],
            "high": [112.7],
        }
    )
    read = Read(page(replace(contents, largest=largest, corrections=counts)).encode())
    (row,) = read.table("Images with each concept, as labelled")
    assert [*row.values()] == ["<u>sky</u>", "gull", "120", "101", "90 to 113"]
    rows = read.table("The first 20 combinations by evidence")
    assert [row["audit"] for row in rows] == ["supported", "-"] * 10


@pytest.mark.parametrize("scheme", [0, 1])
def test_texts_stand_out_in_both_color_schemes(scheme):
    css = Path(markup.__file__).with_name("report.css").read_text(encoding="utf-8")
    palette = dict(re.findall(r"--(\w+):(#\w+)", re.findall(r":root{(.+)}", css)[scheme]))
    for name in ("text", "muted"):
        assert contrast(palette[name], palette["page"]) >= 4.5


def contrast(one, other):
    """WCAG 2.2: the ratio of relative luminances."""
    lights = []
    for color in (one, other):
        channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_all_that_stand_on_their_own_are_counted_and_20_are_listed(store, dataset):
    records = [
        ImageRecord(f"{at}", name, tuple(Mention(f"c{code:02}") for code in codes))
        for name, later in (("a", 0), ("b", 1))
        for at in range(later, 1200, 2)
        for codes in [[code for code in range(25) if (at * (code + 7)) % 89 < 30 + 40 * later]]
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(1), max_cliques=1000)
    contents = read_contents(store, dataset, ReportOptions())
    assert (contents.standing, len(contents.own)) == (25, 20)
    assert contents.left_out == ""
    told = "".join(Read(page(contents).encode()).texts)
    assert "; 25 stand on their own: no smaller one explains them" in told
    assert "The 20 of 25 combinations with the largest effects of their own" in told


@pytest.mark.parametrize("n_classes", [6, 20])
def test_rows_name_the_classes_that_rates_and_counts_compare(store, dataset, n_classes):
    records = unequal.images(n_classes)
    expected = unequal.rows_of(records)
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(2, common=()), max_cliques=1000)
    found = Read(page(read_contents(store, dataset, ReportOptions())).encode())
    by_evidence = found.table("The first 20 combinations by evidence")
    for line in by_evidence:
        row = expected[tuple(line["concepts"].split(" + "))]
        assert line["most"] == row.most
        assert line["too few"] == row.fewest
        assert line["count gap (ConBias)"] == str(row.gap)
    for line in [*by_evidence, *found.table("What of each imbalance is its own")]:
        row = expected[tuple(line["concepts"].split(" + "))]
        assert line["rate difference"] == row.rate_difference
        said = line["odds ratio [interval]"].replace(",", "")
        odds = [float(number) for number in re.findall(r"[\d.]+", said)]
        assert odds == pytest.approx([math.exp(value) for value in row.log_odds], 0.01, 0.006)
        if n_classes == 20:
            assert (line["highest in"], line["lowest in"]) == (row.highest, row.lowest)


def test_clusters_have_columns(store, dataset):
    random, name = Random(3), f"{dataset} after"
    records = [
        ImageRecord(
            str(at),
            "ab"[at % 2],
            tuple(Mention(each) for each in "uvw" if random.random() < 0.2 + 0.5 * (at % 2)),
            cluster=f"video {at // 6}",
        )
        for at in range(120)
    ]
    try:
        for version, images in ((dataset, records), (name, records[:90])):
            write_annotations(store, version, Annotations.from_records(images), source="a test")
            mine_dataset(store, version, MiningOptions(2), max_cliques=1000)
        found = Read(page(read_contents(store, dataset, ReportOptions(name))).encode())
    finally:
        drop_dataset(store, name)
    in_videos = {
        each: [
            len({record.cluster for record in part if each in record.concepts})
            for part in (records, records[:90])
        ]
        for each in "uvw"
    }
    rows = {row["concepts"]: row["clusters"] for row in found.table("The first ")}
    changed = {
        row["concepts"]: row["clusters"] for row in found.table("Combinations that change most")
    }
    for each, (before, after) in in_videos.items():
        assert rows[each] == str(before)
        assert changed[each] == f"{before} → {after}"
