"""Captions of attributes, for the models that look for them (GELDA, section 3.2, table S1)."""

import re

from cobalance.annotation.proposing.options import ProposeOptions, filled
from cobalance.graph.annotations.attributes import Level
from cobalance.ingest.concepts.wording import with_article

_PICTURE = re.compile(
    r"^(?:(?:an?|the)\s+)?(?:[\w-]+\s+){0,3}?(?:photo(?:graph)?|image|picture|painting|drawing)s?\s+of"
    r"\s+(?:(?:an?|the)\s+)?",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


def noun_of(caption: str) -> str:
    """What the images of a caption show.

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
    return filled(
        options.templates[options.phrases.get(category, "with")],
        attribute=attribute,
        noun=noun,
        category=category,
        an_attribute=with_article(attribute),
        a_noun=with_article(noun),
    )
