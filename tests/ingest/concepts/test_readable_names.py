"""Names of concepts as English words."""

import pytest

from cobalance.base.readable_names import readable, with_article


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("street_sign", "street sign"),
        ("StreetSign", "street sign"),
        ("fire hydrant", "fire hydrant"),
        ("garage/outdoor", "garage outdoor"),
        ("stop-sign_004", "stop sign"),
        ("bird12", "bird"),
        ("mp3", "mp3"),
        ("Route 66", "Route 66"),
        ("iPhone", "iPhone"),
        ("747", "747"),
        ("  spaced   out  ", "spaced out"),
        ("caf\u00e9_terrace", "caf\u00e9 terrace"),
    ],
)
def test_readable_names(name, expected):
    assert readable(name) == expected


@pytest.mark.parametrize(
    "article",
    [
        "a cow", "an alley", "an hour", "a unicorn", "a uniform", "an umbrella", "an urn",
        "a urinal", "a utensil", "a European city", "a one-way street", "an SUV", "a UFO", "an MRI",
        "a TV", "an X-ray", "an 8-ball", "an 11th hour", "a 2-seater",
        "a bus", "a lens", "a cactus", "a glass", "a person", "a pizza", "a horse", "an heirloom",
    ],
)  # fmt: skip
def test_articles(article):
    assert with_article(article.partition(" ")[2]) == article


@pytest.mark.parametrize(
    "name",
    ["trees", "skis", "scissors", "people", "grass", "snow", "the ocean", "two cows", "one cow",
     "\u0634\u0627\u0631\u0639", "an apple", "green tennis balls", "dirty water"],
)  # fmt: skip
def test_names_that_take_no_article(name):
    assert with_article(name) == name
