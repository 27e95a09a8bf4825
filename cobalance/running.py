"""Run jobs and tasks in this process, as a worker of their own."""

from collections.abc import Sequence

from cobalance.graph.errors import needs_extra
from cobalance.graph.progress import Progress
from cobalance.workflows.settings import Settings


def run_in_process(
    settings: Settings, ids: Sequence[str], progress: Progress, queue: str | None = None
) -> None:
    """Run jobs or tasks until all have ended.

    Parameters
    ----------
    queue : str, optional
        The name of their queue, which is no other worker's; by default the first id.

    Raises
    ------
    MissingExtraError
        A worker, or what they need, is not installed.
    """
    with needs_extra("A worker", "worker"):
        from cobalance.workflows.work.run import run_here
    home = settings.cobalance_home.expanduser().absolute() / "python"
    run_here(settings, ids, f"sqlite:///{home / f'{queue or ids[0]}.sqlite'}", progress)
