"""Decode untrusted JSON, TOML, XML and YAML; failures raise ValueError."""

import json
import tomllib
from typing import Any
from xml.etree import ElementTree

import msgspec
import yaml

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for JSON that it cannot decode; see `decoding_fault`."""

# Characters of a YAML document, which takes a second for each 40,000.
MOST_YAML = 1 << 19
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
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def decode_xml(content: bytes) -> ElementTree.Element:
    """Decode an XML document in UTF-8; gives its root.

    Raises
    ------
    ValueError
        It is not XML, or declares a document type, which could declare entities.
    """
    try:
        text = content.decode("utf-8-sig")
        if "<!DOCTYPE" in text:
            raise ValueError("declares a document type")
        return ElementTree.fromstring(text)  # noqa: S314 (no document type, so no entities)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except ElementTree.ParseError as error:
        raise ValueError(f"is not XML ({error})") from None


def decode_yaml(text: str) -> Any:
    """Decode a YAML document of texts, lists and objects: no tag makes anything else of them.

    Numbers and dates stay text, and so do ``no`` and ``on``, which YAML 1.1 takes for booleans.

    Raises
    ------
    ValueError
        It is not YAML, is nested hundreds deep, is longer than 512 Ki characters, or has an alias
        of more than a short text: aliases of lists unfold without bound.

    Examples
    --------
    >>> decode_yaml("names: {0: cow, 1: sign}")
    {'names': {'0': 'cow', '1': 'sign'}}
    """
    if len(text) > MOST_YAML:
        raise ValueError(f"has more than {MOST_YAML:,} characters")
    try:
        return yaml.load(text, _Loader)  # noqa: S506 (a loader of texts)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML ({error})") from None


class _Loader(yaml.BaseLoader):  # type: ignore[misc]  # PyYAML has no types
    def compose_node(self, parent: Any, index: Any) -> Any:
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        is_short = isinstance(node, yaml.ScalarNode) and len(node.value) < 1000
        if is_alias and not is_short:
            raise yaml.YAMLError("it has an alias of a list, an object or a long text")
        return node


def decoding_fault(error: Exception) -> str:
    """Describe one of `UNDECODABLE` as a clause."""
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return str(error)
