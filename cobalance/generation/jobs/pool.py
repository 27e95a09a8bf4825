"""Judge all images of a job together, by the filters that compare them with each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.filter import Judgement
from cobalance.generation.filters.pool import Pool
from cobalance.generation.jobs.settings import JobSettings
from cobalance.generation.output.rows import judgement_values, named_scores
from cobalance.generation.output.vector_files import read_vectors
from cobalance.graph.jobs.settlement import MadeCandidate
from cobalance.ingest.stored.output_folder import OutputFolder


def has_pool(settings: JobSettings) -> bool:
    """Whether a filter of a job looks at all of its images."""
    return any(FILTERS[name].pool is not None for name in settings.filter_options())


@dataclass(frozen=True)
class PoolJudgements:
    """Judgements of candidates by filters that look at all images of a job.

    Parameters
    ----------
    by_filter : mapping of str to mapping of str to Judgement
        By filter, then by candidate.
    """

    by_filter: Mapping[str, Mapping[str, Judgement]]

    def of(self, candidate: str) -> dict[str, Judgement]:
        """Those of a candidate, by filter."""
        return {
            name: judged[candidate]
            for name, judged in self.by_filter.items()
            if candidate in judged
        }

    def apply(self, candidate: MadeCandidate) -> MadeCandidate:
        """A candidate with the scores, and no longer eligible where one rejects it.

        What people have decided stays.
        """
        found = self.of(candidate.id)
        values = {name: judgement_values(judgement) for name, judgement in found.items()}
        others = {
            name: score
            for name, score in candidate.scores.items()
            if name.partition(" ")[0] not in values
        }
        against = [one.reason for one in found.values() if not one.accepted]
        judged = replace(candidate, scores=others | named_scores(values))
        if not against or not candidate.eligible or candidate.decided_by is not None:
            return judged
        return replace(judged, eligible=False, reason=" ".join(against))

    def recorded(self, candidate: str) -> dict[str, Any]:
        """The judgements of a candidate as the manifest has them, by filter; JSON values."""
        return {name: judgement_values(one) for name, one in self.of(candidate).items()}


def judge_pool(folder: OutputFolder, job: str, settings: JobSettings) -> PoolJudgements:
    """Judge all images of a job that have vectors.

    The vectors of a filter are all in memory at once, in 32 bits: 20,000 images of 512 numbers, and
    as many sources, take 80 MB twice.
    """
    by_filter = {}
    for name, options in settings.filter_options().items():
        check = FILTERS[name].pool
        if check is not None:
            pool = Pool.of(read_vectors(folder, job, name))
            if pool.candidates:
                by_filter[name] = check.judge(pool, FILTERS.check(name, options))
    return PoolJudgements(by_filter)


def changed(
    before: Sequence[MadeCandidate], after: Sequence[MadeCandidate]
) -> dict[str, tuple[Mapping[str, float], str]]:
    """What `graph.jobs.settlement.judge_made` is to write: scores, and why one is rejected."""
    return {
        new.id: (new.scores, new.reason if old.eligible and not new.eligible else "")
        for old, new in zip(before, after, strict=True)
        if new != old
    }
