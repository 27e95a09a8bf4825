"""Decode JSON, TOML and YAML from outside: whatever cannot be decoded is a ValueError."""

import json
import tomllib
from typing import Any

import msgspec
import yaml

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for JSON that it cannot decode; see `decoding_fault`."""

_TOO_DEEP = "lists or objects are nested too deep"


def decode_json(text: str | bytes) -> Any:
    """Decode a JSON document.

    Raises
    ------
    ValueError
        It is not JSON, holds a number of thousands of digits, or is nested hundreds deep.

    Examples
    --------
    >>> decode_json("[" * 5_000 + "]" * 5_000)
    Traceback (most recent call last):
    ...
    ValueError: lists or objects are nested too deep
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def decode_toml(text: str) -> dict[str, Any]:
    """Decode a TOML document.

    Raises
    ------
    ValueError
        As `decode_json`.

    Examples
    --------
    >>> decode_toml("x = " + "[" * 5_000 + "]" * 5_000)
    Traceback (most recent call last):
    ...
    ValueError: lists or objects are nested too deep
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def decode_yaml(text: str) -> Any:
    """Decode a YAML document of plain values: no tag makes an object.

    Raises
    ------
    ValueError
        It is not YAML, or is nested hundreds deep.

    Examples
    --------
    >>> decode_yaml("names: {0: cow, 1: sign}")
    {'names': {0: 'cow', 1: 'sign'}}
    """
    try:
        return yaml.safe_load(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML ({error})") from None


def decoding_fault(error: Exception) -> str:
    """Describe one of `UNDECODABLE` as a clause."""
    return _TOO_DEEP if isinstance(error, RecursionError) else str(error)
