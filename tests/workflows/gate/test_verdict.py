"""A gate fails on what leans beyond its rules, and on what is new or worse than its baseline."""

import json

import pytest
from scipy import stats

from cobalance.base.errors import DataError, InputError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.workflows import (
    check_rules,
    from_annotations,
    judge,
    judge_split,
    read_baseline,
    write_baseline,
)
from cobalance.workflows.gate.measures import measure_leans
from tests.workflows.gate.drawn import records, subject

EVEN = {"cow": (0.2, 0.2), "road": (0.4, 0.4), "sign": (0.1, 0.1)}
LEANING = EVEN | {"cow": (0.3, 0.1)}


def statuses(verdict):
    return {finding.of: finding.status for finding in verdict.findings}


def test_a_lean_breaks_the_usual_rule_and_an_even_file_does_not():
    assert judge(subject(records(0, 1000, EVEN)), check_rules({})).passed
    verdict = judge(subject(records(0, 1000, LEANING)), check_rules({}))
    assert not verdict.passed
    assert statuses(verdict)["cow"] == "new"
    worst = verdict.findings[0]
    assert worst.concepts == ("cow",)
    assert worst.class_name == "farm"
    assert verdict.command(worst) == "cobalance gate cars.csv --images-of cow"


def test_both_evidence_and_effect_are_needed():
    images = subject(records(0, 1000, LEANING))
    assert judge(images, check_rules({"leans": [{"min_difference": 0.5}]})).passed
    few = subject(records(0, 12, LEANING))
    assert judge(few, check_rules({})).passed


def test_counts_rates_and_q_values_are_those_of_the_images():
    images = records(3, 400, LEANING)
    leans = measure_leans(subject(images).incidence(), check_rules({}).leans[0])
    p_values = []
    for row, concepts in enumerate(leans.cliques.names()):
        expected = [
            sum(
                image.class_name == name and {*concepts} <= {m.concept for m in image.mentions}
                for image in images
            )
            for name in ("farm", "town")
        ]
        assert leans.cliques.counts[row].tolist() == expected
        lacking = [400 - n for n in expected]
        p_values.append(stats.chi2_contingency([expected, lacking], correction=False).pvalue)
        assert leans.differences[row] == pytest.approx(abs(expected[0] - expected[1]) / 400)
    q_values = stats.false_discovery_control(p_values)
    assert leans.q_values == pytest.approx(q_values)


def test_what_too_few_images_show_to_break_the_rule_is_not_tested():
    images = records(0, 1000, EVEN)
    images[0] = ImageRecord("farm 0", "farm", (Mention("rare"),))
    leans = measure_leans(subject(images).incidence(), check_rules({}).leans[0])
    assert ("rare",) not in leans.cliques.names()


def test_a_group_is_of_concepts_or_of_all_values_of_a_column():
    images = [
        ImageRecord(str(number), name, (Mention(f"sky: {sky}"), Mention("cow")))
        for number, (name, sky) in enumerate([("a", "blue"), ("b", "grey")] * 200)
    ]
    verdict = judge(subject(images), check_rules({"leans": [{"concepts": ["sky"]}]}))
    assert {finding.of for finding in verdict.findings} == {"sky: blue", "sky: grey"}
    only = judge(subject(images), check_rules({"leans": [{"concepts": ["cow"]}]}))
    assert only.passed
    with pytest.raises(UnknownNameError, match="'sea'"):
        judge(subject(images), check_rules({"leans": [{"concepts": ["sea"]}]}))


def test_what_the_baseline_has_passes_and_what_is_new_does_not(tmp_path):
    before = records(0, 1000, LEANING)
    first = judge(subject(before), check_rules({}))
    write_baseline(tmp_path / "b.json", first.make_baseline())
    baseline = read_baseline(tmp_path / "b.json")
    assert baseline == first.make_baseline()

    same = judge(subject(before), check_rules({}), baseline)
    assert same.passed
    assert set(statuses(same).values()) == {"known"}

    # Half of the town's images show a sign now, which none of the farm's do.
    changed = [
        ImageRecord(image.id, image.class_name, (*image.mentions, Mention("flag")))
        if image.class_name == "town" and number % 2
        else image
        for number, image in enumerate(before)
    ]
    verdict = judge(subject(changed), check_rules({}), baseline)
    assert not verdict.passed
    assert statuses(verdict)["flag"] == "new"
    assert statuses(verdict)["cow"] == "known"


def test_a_lean_that_doubles_is_worse_and_one_that_ends_is_better():
    before = records(0, 1000, LEANING)
    baseline = judge(subject(before), check_rules({})).make_baseline()

    grown = records(0, 1000, LEANING | {"cow": (0.5, 0.1)})
    worse = judge(subject(grown), check_rules({}), baseline)
    assert statuses(worse)["cow"] == "worse"
    assert not worse.passed

    ended = records(0, 1000, EVEN)
    better = judge(subject(ended), check_rules({}), baseline)
    assert better.passed
    assert statuses(better)["cow"] == "better"


def test_random_images_are_no_change():
    rates = LEANING | {f"thing {number}": (0.1, 0.12) for number in range(10)}
    before = records(0, 1000, rates)
    baseline = judge(subject(before), check_rules({})).make_baseline()
    for seed in range(20):
        after = before + records(seed, 10, rates, first=1000)
        assert judge(subject(after), check_rules({}), baseline).passed


def test_a_baseline_is_of_the_same_data_classes_and_rules():
    before = records(0, 100, LEANING)
    baseline = judge(subject(before), check_rules({})).make_baseline()
    with pytest.raises(DataError, match="none of its images"):
        judge(subject(records(0, 100, LEANING, first=500)), check_rules({}), baseline)
    with pytest.raises(DataError, match="other rules of leans"):
        judge(subject(before), check_rules({"leans": [{"max_size": 1}]}), baseline)
    further = [*before, ImageRecord("new", "village")]
    with pytest.raises(DataError, match="other classes: village"):
        judge(subject(further), check_rules({}), baseline)


def test_numbers_of_other_rules_are_known_worse_or_new():
    rules = check_rules({"min_class_images": 120, "max_bits": 0.01})
    before = records(0, 100, EVEN | {"cow": (0.9, 0.1)})
    first = judge(subject(before), rules)
    assert {"farm", "town", "bits"} <= {*statuses(first)}
    assert judge(subject(before), rules, first.make_baseline()).passed
    fewer = judge(subject(before[1:]), rules, first.make_baseline())
    assert statuses(fewer)["farm"] == "worse"
    assert statuses(fewer)["town"] == "known"


def test_each_combination_is_in_enough_images_of_each_class():
    rules = check_rules({"leans": [{"max_size": 1, "min_images": 10, "max_q": 1e-9}]})
    images = records(0, 100, {"cow": (0.5, 0.5), "boat": (0.05, 0.5)})
    verdict = judge(subject(images), rules)
    n = sum(Mention("boat") in image.mentions for image in images[:100])
    (finding,) = [part for part in verdict.findings if part.rule == "combination images"]
    assert finding.text.startswith(f"boat is in {n} images of farm")


def test_clusters_stand_in_one_split():
    images = [
        ImageRecord(f"{number}", "ab"[number % 2], split=split, cluster=cluster)
        for number, (split, cluster) in enumerate(
            [("train", "video 1"), ("test", "video 1"), ("train", "video 2"), ("train", "video 2")]
        )
    ]
    verdict = judge(subject(images), check_rules({"separate_splits": True}))
    (finding,) = verdict.findings
    assert finding.of == "cluster video 1"
    assert "2 images in test, train" in finding.text


def test_a_column_has_values_in_enough_images():
    images = [
        ImageRecord(str(number), "ab"[number % 2], (Mention("age: 20"),) if number < 30 else ())
        for number in range(100)
    ]
    verdict = judge(subject(images), check_rules({"coverage": {"age": 0.5}}))
    (finding,) = [part for part in verdict.findings if part.rule == "coverage"]
    assert finding.text.startswith("30.0% of the images have a value of age")
    assert judge(subject(images), check_rules({"leans": [], "coverage": {"age": 0.3}})).passed
    with pytest.raises(UnknownNameError, match="'height'"):
        judge(subject(images), check_rules({"coverage": {"height": 0.5}}))


def test_properties_of_files_need_a_dataset_of_the_store():
    with pytest.raises(DataError, match="needs properties of image files"):
        judge(subject(records(0, 10, EVEN)), check_rules({"max_property_auc": 0.7}))


def test_a_split_is_judged_by_what_another_shows_too():
    both = records(0, 1000, LEANING, split="train")
    both += records(1, 1000, LEANING, first=1000, split="test")
    verdict = judge_split(subject(both), check_rules({}), "train", "test")
    assert verdict.passed
    assert statuses(verdict)["cow"] == "known"

    other = records(0, 1000, LEANING, split="train")
    other += records(1, 1000, EVEN, first=1000, split="test")
    verdict = judge_split(subject(other), check_rules({}), "train", "test")
    assert statuses(verdict)["cow"] == "new"
    with pytest.raises(UnknownNameError, match="'val'"):
        judge_split(subject(other), check_rules({}), "train", "val")


def test_without_two_classes_there_is_nothing_to_judge():
    alone = from_annotations(Annotations.from_records([ImageRecord("1", "farm")]), "one.csv")
    with pytest.raises(DataError, match=r"one.csv: nothing can be compared"):
        judge(alone, check_rules({}))


def test_a_class_that_the_other_split_lacks_cannot_be_compared():
    both = records(0, 200, LEANING, split="train") + [
        ImageRecord(f"village {number}", "village", (Mention("barn"),), "train")
        for number in range(200)
    ]
    both += records(1, 200, LEANING, first=1000, split="test")
    with pytest.raises(DataError, match="only 'train' has 'village'"):
        judge_split(subject(both), check_rules({}), "train", "test")


def test_a_damaged_baseline_is_refused_before_anything_is_compared(tmp_path):
    before = records(0, 200, LEANING)
    file = tmp_path / "b.json"
    write_baseline(file, judge(subject(before), check_rules({})).make_baseline())
    content = json.loads(file.read_text())
    content["leans"][-1]["images"].pop()
    file.write_text(json.dumps(content))
    with pytest.raises(DataError, match="counts of other classes"):
        judge(subject(before), check_rules({}), read_baseline(file))
    content["sample"][0] = "x"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"sample\[0\]"):
        read_baseline(file)
