"""Options of proposing attributes: presets, questions and caption templates (GELDA, table S1)."""

import math
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from cobalance.base import Options, check_known, decode_toml, read_options, with_article
from cobalance.graph import Level

_FOLDER = files("cobalance.annotation.proposing") / "presets"
_PLACE = re.compile(r"\{([a-z ]+)\}")


class Questions(Options):
    """Templates of questions to a language model, with places in braces.

    Parameters
    ----------
    categories, attributes, level : str
        GELDA's Q1 (``{n}``, ``{caption}``), Q2 (``{m}``, ``{category}``, ``{caption}``) and Q3
        (``{attributes}``).
    image_caption, object_caption : str
        For captions that the model writes: ``{caption}``, ``{category}``, ``{attribute}``.
    """

    categories: str
    attributes: str
    level: str
    image_caption: str
    object_caption: str


class ProposeOptions(Options):
    """Options of proposing attributes; the caption of the domain is apart.

    Parameters
    ----------
    categories, attributes : int
        GELDA's N, and M of each category.
    rounds : int
        R: how often Q1 and each Q2 are asked.
    temperature : float
    votes : {"any", "half"}
        Whether a name needs at least ⌈R/2⌉ rounds, or one.
    with_schema : bool
        Whether replies are asked for by a JSON schema.
    questions : Questions
    templates : mapping of str to str
        A caption of each noun-attribute phrase (table S1), with ``{attribute}``, ``{noun}`` and
        ``{category}``, or ``{an attribute}`` and ``{a noun}`` for these with articles.
    phrases : mapping of str to str
        The phrase of a category; ``with`` for others.
    noun : str
        What images show; empty for the caption's own.
    llm_prompts : bool
        Whether the model writes each caption, as the authors' package does.
    sensitive : bool
        Whether gender, ethnicity, age and the like are proposed, too.
    seed : int
        Another one asks the same questions anew.
    """

    categories: int = Field(ge=1, le=100)
    attributes: int = Field(ge=1, le=100)
    rounds: int = Field(ge=1, le=50)
    temperature: float = Field(ge=0, le=2)
    votes: Literal["any", "half"]
    with_schema: bool
    questions: Questions
    templates: dict[str, str]
    phrases: dict[str, str] = Field(default_factory=dict)
    noun: str = ""
    llm_prompts: bool = False
    sensitive: bool = False
    seed: int = Field(default=0, ge=0, lt=1000)

    @property
    def min_votes(self) -> int:
        """The fewest rounds that a name needs."""
        return math.ceil(self.rounds / 2) if self.votes == "half" else 1


def preset_names() -> list[str]:
    """Names of the presets.

    Examples
    --------
    >>> preset_names()
    ['default', 'gelda']
    """
    return sorted(file.name[:-5] for file in _FOLDER.iterdir() if file.name.endswith(".toml"))


def read_preset(name: str = "default", changes: Mapping[str, Any] | None = None) -> ProposeOptions:
    """Read a preset, with other values for some options; None is the preset's.

    Raises
    ------
    UnknownNameError
        There is no such preset, or a phrase has no template.
    OptionError
        A value is not allowed.

    Examples
    --------
    >>> gelda = read_preset("gelda", {"rounds": 3})
    >>> gelda.categories, gelda.attributes, gelda.rounds, gelda.min_votes
    (10, 5, 3, 1)
    """
    check_known("preset", [name], preset_names())
    preset = decode_toml((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    changed = {option: value for option, value in (changes or {}).items() if value is not None}

    # Phrases are added to the preset's; other options take its place.
    phrases = {**preset["phrases"], **changed.pop("phrases", {})}
    options = read_options(
        ProposeOptions, {**preset, **changed, "phrases": phrases}, "Proposing attributes"
    )
    check_known("phrase", phrases.values(), options.templates)
    return options


def fill_template(template: str, **values: object) -> str:
    """A template with values in its places, in one pass: no value is taken for a place.

    Examples
    --------
    >>> fill_template("a {attribute} {noun}", attribute="{noun}", noun="bird")
    'a {noun} bird'
    """
    return _PLACE.sub(lambda match: str(values.get(match[1].replace(" ", "_"), match[0])), template)


_PICTURE = re.compile(
    r"^(?:(?:an?|the)\s+)?(?:[\w-]+\s+){0,3}?(?:photo(?:graph)?|image|picture|painting|drawing)s?\s+of"
    r"\s+(?:(?:an?|the)\s+)?",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


def noun_of(caption: str) -> str:
    """Extract the noun from the caption of a domain.

    Examples
    --------
    >>> noun_of("a photo of a bird"), noun_of("a headshot photo of a person"), noun_of("birds")
    ('bird', 'person', 'birds')
    """
    text = " ".join(caption.split())
    return _ARTICLE.sub("", _PICTURE.sub("", text)) or text


def caption_of(
    options: ProposeOptions, domain: str, category: str, attribute: str, level: Level
) -> str:
    """The caption of an attribute.

    Of an object it is the attribute itself, as detectors take names; and so is one that already is
    a caption, or that names what the images show. All others get the template of the category's
    phrase.

    Examples
    --------
    >>> from cobalance.annotation.proposing.options import read_preset
    >>> of_birds = read_preset("default"), "a photo of a bird"
    >>> [caption_of(*of_birds, *one, "image") for one in (("color", "orange"), ("scene", "fog"))]
    ['an orange bird', 'a bird with fog']
    >>> caption_of(*of_birds, "scenery", "a bird on a rock", "image")
    'a bird on a rock'
    >>> caption_of(*of_birds, "tail", "long tail", "object")
    'long tail'
    """
    noun = options.noun or noun_of(domain)
    is_caption = _PICTURE.match(attribute) or re.search(rf"\b{re.escape(noun)}\b", attribute)
    if level == "object" or is_caption:
        return attribute

    return fill_template(
        options.templates[options.phrases.get(category, "with")],
        attribute=attribute,
        noun=noun,
        category=category,
        an_attribute=with_article(attribute),
        a_noun=with_article(noun),
    )
