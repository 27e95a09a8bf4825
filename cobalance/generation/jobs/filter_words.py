"""Filter scores of a job's candidates in words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any

from cobalance.base import CobalanceError, join_names
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.filter import Asked, Said, Scored
from cobalance.generation.jobs.settings import read_job_settings


class FilterWords:
    """Words for the scores of a job's candidates.

    Parameters
    ----------
    settings : mapping
        The job's, as the graph has them. Of those that cannot be read here, scores stay numbers.
    edits : bool
        Whether the job edits images to show another class, which is then what is asked for.

    Attributes
    ----------
    looks : bool or None
        Whether any of its filters rejects images that do not show what was asked for; None where
        the settings cannot be read.

    Examples
    --------
    >>> words = FilterWords({"filters": {"objects": {"check_class": False}, "safety": {}}})
    >>> words.looks, words.say({"objects": 0.03, "safety": 1.0}, ["cow"], "urban")
    (True, ['A detector does not find cow: 0.03, needs 0.1', 'Not flagged by the safety checker'])
    >>> words.not_looked_for([], "urban")
    'urban'
    """

    def __init__(self, settings: Mapping[str, Any], *, edits: bool = False) -> None:
        self._edits = edits
        self._options: dict[str, Any] = {}
        self._looks_for: frozenset[Asked] | None = None
        self.looks: bool | None = None

        # Settings of an older version, or of a plug-in that is gone, leave scores without words.
        with suppress(CobalanceError):
            chosen = read_job_settings(settings).filter_options()
            self._options = {name: FILTERS.check(name, values) for name, values in chosen.items()}
            looks = (FILTERS[name].looks(options) for name, options in self._options.items())
            self._looks_for = frozenset[Asked]().union(*looks)
            self.looks = "class" in self._looks_for if edits else bool(self._looks_for)

    def not_looked_for(self, concepts: Sequence[str], class_name: str) -> str:
        """Name the requested concepts or class if no filter checks them; else empty."""
        named = () if self._edits else concepts
        if self._looks_for is None or ("concepts" if named else "class") in self._looks_for:
            return ""
        return join_names(named) or class_name

    def say(
        self,
        scores: Mapping[str, float],
        concepts: Sequence[str],
        class_name: str,
        reason: str = "",
    ) -> list[str]:
        """A sentence for each filter's score; numbers that only add to it are in the sentence.

        Parameters
        ----------
        scores : mapping of str to float
            Of one candidate, by filter, and by filter and detail.
        concepts, class_name
            What was asked for.
        reason : str
            Why it was rejected: the first sentence, unless a filter's score says it.
        """
        # A score is named after its filter, a further number with a word behind that.
        details: dict[str, dict[str, float]] = {}
        for name, score in scores.items():
            filter_name, _, detail = name.partition(" ")
            if isfinite(score):
                details.setdefault(filter_name, {})[detail] = score

        words = list[Said]()
        for name, score in scores.items():
            if " " in name:
                continue
            says = FILTERS[name].says if name in self._options else None

            if not isfinite(score):
                words.append(Said(f"{name}: no score"))
            elif says is None:
                words.append(Said(f"{name} {score:.3g}"))
            else:
                scored = Scored(score, details[name], tuple(concepts), class_name)
                words.append(says(scored, self._options[name]))

        sentences = [filter_words.text for filter_words in words]
        # Where an image fails a filter, the sentence of that filter is the reason.
        if reason and all(filter_words.enough for filter_words in words):
            sentences.insert(0, reason.rstrip("."))
        return sentences
