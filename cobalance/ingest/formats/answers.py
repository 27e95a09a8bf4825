"""People's answers about images and objects, without the words that tools write for themselves."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

_BLANK = ("", None)

# Numbers of an object or a task, and who worked on it how long; none of it is seen in an image.
_OWN_WORDS = frozenset({
    "annotation_id", "annotator", "created_at", "group_id", "id", "instance_id", "keyframe",
    "lead_time", "outside", "track_id", "updated_at", "video_id", "z_order",
})  # fmt: skip
_CROWDS = ("is_crowd", "iscrowd")


def gather(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Answers by question; several to one question, such as repeated tags, are a list.

    Examples
    --------
    >>> gather([("seen", "rope"), ("damage", ""), ("seen", ["gull"])])
    {'seen': ['rope', 'gull']}
    """
    lists: dict[str, list[Any]] = {}
    for question, answer in pairs:
        answers = answer if isinstance(answer, list) else [answer]
        listed = lists.setdefault(question, [])
        listed += (value for value in answers if value not in _BLANK and value not in listed)

    return {
        question: answers[0] if len(answers) == 1 else answers
        for question, answers in lists.items()
        if answers
    }


def ticked_options(answer: Any) -> Any:
    """The options that are ticked, where an answer is an object with a key for each."""
    if not isinstance(answer, dict):
        return answer
    return [option for option, is_ticked in answer.items() if is_ticked not in (False, *_BLANK)]


def without_own_words(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers but for empty ones and the tool's own words."""
    return gather((name, answer) for name, answer in answers.items() if name not in _OWN_WORDS)


def object_arguments(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Attributes of an object as arguments of `Picture.add`: its score and crowd flag are its own.

    Examples
    --------
    >>> object_arguments({"score": 0.5, "is_crowd": True, "track_id": 7, "color": "blue"})
    {'score': 0.5, 'crowd': True, 'attributes': {'color': 'blue'}}
    """
    arguments: dict[str, Any] = {}
    answers = without_own_words(attributes or {})
    score = answers.get("score")
    if isinstance(score, int | float) and isfinite(score) and 0 <= score <= 1:
        arguments["score"] = float(answers.pop("score"))

    for name in _CROWDS:
        if answers.pop(name, False):
            arguments["crowd"] = True

    return {**arguments, "attributes": answers}
