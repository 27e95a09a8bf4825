"""Prompt templates, and prompts rendered from them."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from cobalance.base import ALL_IMAGES, OptionError, join_names, readable, with_article

PHOTO = "a photo of {concepts}"
"""The prompt of the paper's section 10: "a photo of concept 1, concept 2, ..., and concept N"."""

_PLACEHOLDER = re.compile(r"\{(concepts|names|class|caption|noun|adjective)\}")
_WORDS = ("caption", "noun", "adjective")
_LOOKS_LIKE_ONE = re.compile(r"\{[A-Za-z_]*\}")


def prompt_for(
    concepts: Sequence[str],
    template: str = PHOTO,
    *,
    class_name: str = "",
    caption: str = "",
    noun: str = "",
    adjective: str = "",
) -> str:
    """Render the prompt for an image with the given concepts, or of the given group.

    Parameters
    ----------
    concepts : sequence of str
        In the prompt's order.
    template : str
        Text with ``{concepts}``, a list of the concepts with their articles, or ``{names}``, the
        same without articles, and optionally ``{class}``. For an edited image also ``{caption}``,
        ``{noun}`` and ``{adjective}``.
    class_name : str
        Replaces ``{class}``; images without classes are scenes.
    caption, noun, adjective : str
        The caption of the edited image, and the words of its group; replaced as they are.

    Raises
    ------
    OptionError
        The template cannot be used, or it has a place for something that is empty.

    Notes
    -----
    The paper's examples have articles ("An image of a ocean and a beach"), its template has none.
    Here `with_article` chooses them by a short rule and a table.

    Examples
    --------
    >>> prompt_for(["alley"])
    'a photo of an alley'
    >>> prompt_for(["cow", "forest_road"])
    'a photo of a cow and a forest road'
    >>> prompt_for(["fire hydrant", "trees", "water"], "a photo of {names}")
    'a photo of fire hydrant, trees, and water'
    >>> prompt_for(["ocean", "SurfBoard"], "add {concepts} to the background")
    'add an ocean and a surf board to the background'
    >>> prompt_for(["{class}", 'the "sea"'], "a {class} before {concepts}", class_name="bird_2")
    'a bird before a {class} and the "sea"'
    """
    places = placeholders(check_template(template))
    if not concepts and places & {"concepts", "names"}:
        raise OptionError("A prompt without concepts was asked for. Name one or more.")
    words = {"caption": caption, "noun": noun, "adjective": adjective}
    for word in _WORDS:
        if word in places and not words[word]:
            raise OptionError(
                f"The prompt {template!r} has a place for the {word}, and the class "
                f"{class_name!r} has none. Leave {{{word}}} out, or give the class one."
            )

    names = list(map(readable, concepts))
    values = {
        "concepts": join_names(list(map(with_article, names))),
        "names": join_names(names),
        "class": "scene" if class_name == ALL_IMAGES else readable(class_name),
        **words,
    }
    # In one pass, so that no name is taken for a placeholder, and never by str.format.
    return _PLACEHOLDER.sub(lambda place: values[place[1]], template)


def placeholders(template: str) -> frozenset[str]:
    """The known placeholders that a template has."""
    return frozenset(_PLACEHOLDER.findall(template))


def check_template(template: str) -> str:
    """Return a valid prompt template; OptionError for another text.

    Examples
    --------
    >>> check_template("a photo of {concept}")
    Traceback (most recent call last):
    ...
    cobalance.base.errors.OptionError: The prompt 'a photo of {concept}' has no place for the \
concepts. Write {concepts}, or {names} for them without articles; {class} is the class.
    """
    places = placeholders(template)
    known = {f"{{{name}}}" for name in places}
    unknown = sorted(set(_LOOKS_LIKE_ONE.findall(template)) - known)

    if not places & {"concepts", "names", *_WORDS}:
        problem = "has no place for the concepts"
    elif unknown:
        problem = f"has the unknown placeholder {unknown[0]}"
    elif not template.isprintable():
        problem = "has a line end or a control character"
    else:
        return template
    raise OptionError(
        f"The prompt {template!r} {problem}. Write {{concepts}}, or {{names}} for them without "
        "articles; {class} is the class."
    )


Template = Annotated[str, AfterValidator(check_template)]
"""An option that is a prompt template."""
