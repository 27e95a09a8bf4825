"""Options of servers: addresses, consent, budgets and key files."""

from pathlib import Path

import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.http import HttpOptions


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"url": ""}, "url is '': that is no address. Give one such as http://127.0.0.1:8000/v1."),
        ({"url": "ftp://here"}, "url is 'ftp://here': that is no address"),
        ({"url": "http://"}, "that is no address"),
        ({"url": "http://127.0.0.1/v1?key=1"}, "that is no address"),
        ({"url": "http://me:hunter2@127.0.0.1"}, "an address has no login in it"),
        ({"url": "https://images.example.org/v1"}, "would be sent to images.example.org"),
        ({"url": "http://127.0.0.1 http://10.0.0.1"}, "would be sent to 10.0.0.1"),
        ({"max_images": 0}, "max_images is 0: input should be greater than or equal to 1"),
        ({"max_cost": 0, "price": 1}, "max_cost is 0: input should be greater than 0"),
        ({"max_cost": 5}, "max_cost limits nothing while an image costs nothing. Set price."),
        ({"max_cost": 0.5, "price": 0.6}, "max_cost buys no image at 0.6 each. Raise it."),
        ({"price": "nan"}, "price is 'nan'"),
        ({"crop": True}, "crop paints the object in a crop of the image. Set paint to object."),
        ({"fields": {"size": "1x1"}}, "size is filled in for each image"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(values: dict[str, object], fault: str) -> None:
    with pytest.raises(OptionError) as error:
        BACKENDS.check("http", values)
    assert fault in str(error.value)
    assert "hunter2" not in str(error.value)


def test_a_budget_is_the_smaller_one_of_images_and_money() -> None:
    assert HttpOptions().budget is None
    assert HttpOptions(max_images=7).budget == 7
    assert HttpOptions(max_cost=0.3, price=0.1).budget == 3  # in floating point 2.99...
    assert HttpOptions(max_cost=0.3, price=0.1, max_images=2).budget == 2
    assert HttpOptions(max_cost=2.0, price=0.3).budget == 6


def test_several_addresses_share_the_work_and_other_machines_need_consent() -> None:
    options = HttpOptions(
        url="http://localhost:1/v1/ http://[::1]:2 https://a.example/v1", send_images=True
    )
    assert options.urls == ["http://localhost:1/v1", "http://[::1]:2", "https://a.example/v1"]


def test_a_key_is_one_line_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "key"
    file.write_text("  s3cret\n")
    options = HttpOptions(key_file="key")
    assert (options.key_file, options.read_key()) == (str(file), "s3cret")
    assert HttpOptions().read_key() is None

    for content in (b"", b"\n", b"two\nlines", b"caf\xc3\xa9"):
        file.write_bytes(content)
        with pytest.raises(OptionError, match=r"key file .* Name another one with making\.key"):
            options.read_key()
    file.unlink()
    with pytest.raises(OptionError, match="cannot be read: No such file or directory"):
        BACKENDS.open("http", {"key_file": str(file)})
