"""Credentials in URLs are masked, control characters are shown, ordinary text stays."""

import pytest

from cobalance.base.errors import CobalanceError, InputError, OptionError, Setting
from cobalance.base.safe_text import mask_credentials, safe_text, show_controls


@pytest.mark.parametrize(
    "url",
    [
        "s3://KEY:SECRET@bucket/made",
        "s3://KEY:SEC/RET@bucket/made",
        "simplecache::s3://KEY:SECRET@bucket",
        "bolt://u:SECRET@host:7687",
        "neo4j+s://u:SEC@RET@host",
        "bolt:/u:SECRET@host",
        "redis://:SECRET@host",
        "https://SECRET@host/images",
        "postgresql://me@host/jobs?password=SECRET",
        "postgresql+psycopg://me:SECRET@host/jobs",
        "https://host/a.jpg?X-Amz-Date=1&X-Amz-Signature=SECRET",
        "https://host/a.jpg?sv=2&sig=SECRET&se=1",
        "https://host/a.jpg#access_token=SECRET",
    ],
)
def test_no_secret_of_a_url_is_told(url):
    for text in (url, f"{url!r}: no.", f"Roots: {url}, {url}; see {url}"):
        masked = mask_credentials(text)
        assert "SEC" not in masked
        assert "RET" not in masked
        assert "***" in masked
        assert "host" in masked or "bucket" in masked
    for error in (
        OptionError(f"The output folder {url!r} cannot be opened. Set ", Setting("output"), "."),
        InputError(url, None, "it is empty", "Name another one."),
    ):
        assert "SEC" not in str(error)
        assert "SEC" not in error.render(str)


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8501/?dataset=cars",
        "http://host:8080/cars@2x.png",
        "file:///home/me@work/a:b@c.csv",
        "C:/data/me@work.csv",
        "sqlite:////home/me@work/queue.sqlite",
        "postgresql://user:password@host:port/database",
        "annotations[812]: ask ann@example.org, re:zero@home",
        "https://host/list?next=3&key_word=car",
        "naïve 日本 👩\u200d🚀\twide\nline",
    ],
)
def test_other_text_stays(text):
    assert safe_text(text) == text


def test_control_characters_are_shown():
    hostile = "a\x1b[31m\x1b]0;owned\x07\r\x00\x7f\x9b2J\u202e\u2028\udcff"
    shown = show_controls(hostile)
    assert shown == (r"a\x1b[31m\x1b]0;owned\x07\x0d\x00\x7f\x9b2J\u202e\u2028\udcff")
    assert str(CobalanceError(hostile)) == shown
    shown.encode()


@pytest.mark.timeout(20)  # the test itself: steps that grow with the square take minutes
@pytest.mark.parametrize(
    "unit", ["a.", "aa:/b:", "x://u:", "?token", "?aaaa", "://", "http://u:@", "\x1b"]
)
def test_a_long_text_takes_linear_time(unit):
    shown = safe_text(unit * (300_000 // len(unit)) + "@=\x07")
    assert shown.endswith(r"@=\x07")
