"""Every error that cobalance raises on purpose: each says what, where, why and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class CobalanceError(Exception):
    """Base of all expected failures; the CLI prints the message without a traceback."""


class InputError(CobalanceError):
    """An annotation file, or a record in it, that cannot be used.

    Parameters
    ----------
    file : str
        The file as the user named it.
    record : str or None
        Where in the file, in the format's own terms: ``"line 14"``, ``"annotations[812]"``.
    reason : str
        What is wrong, as a clause without the final full stop.
    remedy : str
        What to do about it, as a sentence.

    Examples
    --------
    >>> print(InputError("a.csv", "line 3", "the label is empty", "Fill it in."))
    a.csv, line 3: the label is empty. Fill it in.
    """

    def __init__(self, file: str, record: str | None, reason: str, remedy: str) -> None:
        self.file, self.record, self.reason, self.remedy = file, record, reason, remedy
        place = file if record is None else f"{file}, {record}"
        super().__init__(f"{place}: {reason}. {remedy}")


class OptionError(CobalanceError):
    """An option or argument whose value cannot be used, alone or beside the others."""


class UnknownNameError(OptionError):
    """A name that is not among the known ones; the message lists those, or the closest of many.

    Examples
    --------
    >>> print(UnknownNameError("planner", "conbais", ["published", "conbias"]))
    unknown planner 'conbais'. Known: conbias, published.
    """

    LISTED = 30

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        if len(names) > self.LISTED:
            close = get_close_matches(name, names, n=5, cutoff=0.5)
            hint = f"Closest of {len(names)}: {', '.join(close or names[:5])}"
        else:
            hint = f"Known: {', '.join(names) or 'none'}"
        super().__init__(f"unknown {kind} {name!r}. {hint}.")


class MissingExtraError(CobalanceError):
    """Something needs packages that the installed parts of cobalance do not include.

    Examples
    --------
    >>> print(MissingExtraError("The backend inpaint", "models"))
    The backend inpaint needs packages that are not installed: pip install "cobalance[models]".
    """

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f'{what} needs packages that are not installed: pip install "cobalance[{extra}]".'
        )


class DuplicateNameError(CobalanceError):
    """A second registration of a name that a registry already holds."""


class StoreError(CobalanceError):
    """The graph database cannot do what was asked."""


class StoreUnavailableError(StoreError):
    """No graph database answers: not running, not reachable, or not letting us in."""


class ConstraintViolatedError(StoreError):
    """A write that the database refuses, since it breaks a constraint such as a unique key."""


class SchemaTooNewError(StoreError):
    """The database was written by a newer program than this one."""


class DatasetNotFoundError(StoreError):
    """No dataset of that name is in the store."""


class DatasetExistsError(StoreError):
    """A dataset of that name is in the store already."""


class JobNotFoundError(StoreError):
    """No such job, query of a job or candidate is in the store, or its dataset was dropped."""


class StaleError(StoreError):
    """What was derived from the images (cliques, a plan) is older than the images."""


class QueryRefusedError(CobalanceError):
    """A console query that does more than read, refused before the database sees it."""


class QueryError(CobalanceError):
    """A console query that the server rejects, or whose answer is too large."""


class QueryTimeoutError(CobalanceError):
    """A console query that did not end within its time limit."""


class TooManyCliquesError(CobalanceError):
    """Mining would give more cliques than the limit that was set."""


class JobBlockedError(CobalanceError):
    """Nothing of a job can go on until a person has done what the message says."""


class OutOfMemoryError(CobalanceError):
    """The device has too little memory for so many images at once."""
