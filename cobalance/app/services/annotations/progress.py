"""How long a labelling run still takes."""

from datetime import UTC, datetime, timedelta

from cobalance.graph.annotations.runs import AnnotationRun


def time_left(run: AnnotationRun, now: datetime | None = None) -> str:
    """About how long a run still takes, from when a worker took a chunk; empty where unknown.

    Parameters
    ----------
    now : datetime, optional
        In UTC; by default this moment.
    """
    if run.state not in ("queued", "running") or not run.done or run.started_at is None:
        return ""
    spent_s = ((now or datetime.now(UTC)) - run.started_at).total_seconds()
    left_s = max(spent_s, 0.0) / run.done * (run.chunks - run.done)
    return str(timedelta(seconds=round(left_s)))
