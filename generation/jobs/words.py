"""What the filters of a job say of its candidates, in words instead of scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.filters import FILTERS
from generation.jobs.settings import read_job_settings
from graph.errors import CobalanceError


class FilterWords:
    """Words for the scores of a job's candidates.

    Parameters
    ----------
    settings : mapping
        The job's, as the graph has them. Of those that cannot be read here, scores stay numbers.

    Attributes
    ----------
    looks : bool
        Whether any of its filters rejects images that do not show what was asked for.

    Examples
    --------
    >>> words = FilterWords({"filters": {"clip": {"threshold": 0.24}, "blank": {}}})
    >>> words.looks, words.say({"clip": 0.19, "clip cosine": 0.076, "blank": 0.3}, ["cow"], "urban")
    (True, ['CLIP finds no cow: 0.19, needs 0.24', 'Not one colour: 0.3, needs 0.02'])
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        try:
            chosen = read_job_settings(settings, stored=True).filter_options()
            options = {
                name: FILTERS.check(name, given, stored=True) for name, given in chosen.items()
            }
        except CobalanceError:
            options = {}
        self._options = options
        self.looks = any(FILTERS[name].looks(given) for name, given in options.items())

    def say(
        self, scores: Mapping[str, float], concepts: Sequence[str], class_name: str
    ) -> list[str]:
        """A sentence for each filter's score; numbers that only add to it are left out.

        Parameters
        ----------
        scores : mapping of str to float
            Of one candidate, by filter, and by filter and detail.
        concepts, class_name
            What was asked for.
        """
        asked = " and ".join(concepts) or class_name
        said = []
        for name, score in scores.items():
            if name in self._options:
                says = FILTERS[name].says
                said.append(
                    f"{name} {score:.3g}"
                    if says is None
                    else says(score, self._options[name], asked)
                )
            elif " " not in name:
                said.append(f"{name} {score:.3g}")
        return said
