"""A verdict is written for people and for machines."""

import json
from xml.etree import ElementTree

import pytest

from cobalance.workflows import check_rules, judge, write_verdict
from tests.workflows.gate.drawn import records, subject

MANY = {f"thing_{number}": (0.5, 0.1) for number in range(12)}


@pytest.fixture(scope="module")
def failing():
    return judge(subject(records(0, 500, MANY), "data/cars.csv"), check_rules({}))


@pytest.fixture(scope="module")
def passing():
    return judge(subject(records(0, 500, {"cow": (0.2, 0.2)})), check_rules({}))


def test_text_has_the_five_worst_with_their_commands(failing, passing):
    lines = write_verdict(failing, "text").splitlines()
    assert lines[0].startswith("data/cars.csv breaks a rule: ")
    assert sum(line.startswith("new") for line in lines) == 5
    command = "Images: cobalance gate data/cars.csv --images-of thing"
    assert sum(command in line for line in lines) == 5
    assert write_verdict(passing, "text").startswith("cars.csv passes: no finding; ")


def test_json_has_all_findings(failing):
    content = json.loads(write_verdict(failing, "json"))
    assert content["passed"] is False
    assert len(content["findings"]) == len(failing.findings)
    first = content["findings"][0]
    assert sum(first["images"].values()) > 0
    assert first["class"] == "farm"


def test_junit_counts_its_cases(failing, passing):
    suite = ElementTree.fromstring(write_verdict(failing, "junit"))
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases)
    failures = suite.findall("testcase/failure")
    assert int(suite.get("failures")) == len(failures) == len(failing.findings)
    suite = ElementTree.fromstring(write_verdict(passing, "junit"))
    assert suite.get("failures") == "0"
    assert int(suite.get("tests")) == 2


def test_sarif_has_a_result_for_each_finding(failing):
    run = json.loads(write_verdict(failing, "sarif"))["runs"][0]
    assert len(run["results"]) == len(failing.findings)
    assert {result["level"] for result in run["results"]} == {"error"}
    names = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} <= names
    prints = [result["partialFingerprints"]["finding/v1"] for result in run["results"]]
    assert len({*prints}) == len(prints)


def test_markdown_fits_a_comment(failing):
    lines = write_verdict(failing, "markdown").splitlines()
    assert len(lines) <= 60
    assert len(failing.findings) > 40
    assert "| new | leans | thing\\_" in "\n".join(lines)
    assert lines[-1] == "1,000 images; 0 known, 0 better."


def test_metrics_are_flat_numbers(failing):
    metrics = json.loads(write_verdict(failing, "metrics"))
    assert all(isinstance(value, float) for value in metrics.values())
    assert metrics["images"] == 1000
    assert metrics["leaning"] == len(failing.findings)
    assert metrics["passed"] == 0
