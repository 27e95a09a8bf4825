"""Exceptions: one base class, and the settings and actions that fix an error as data.

A remedy is data, a `Setting` or an `Action`: the command line words it as a flag or a command,
the web app as a field or a button, and ``str(error)`` as Python.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from cobalance.base.installation import install_command
from cobalance.base.plurals import text_if
from cobalance.base.safe_text import safe_text

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """An option that fixes an error, by its name in Python.

    Examples
    --------
    >>> print(Setting("id_column"), Setting("on_error", "skip"))
    id_column on_error='skip'
    """

    name: str
    value: object = None

    def __str__(self) -> str:
        return self.name + text_if(self.value is not None, f"={self.value!r}")


def argument_text(value: object) -> str:
    """An argument as Python writes it; an ellipsis stands for one that only the reader knows."""
    if value is ...:
        return "..."
    return repr(value)


@dataclass(init=False)
class Action:
    """An operation that fixes an error, by its name in Python; worded as an imperative.

    An argument that only the reader knows is ``...``.

    Examples
    --------
    >>> print(Action("mine", "cars", max_size=3), "or", Action("ingest", ..., dataset="cars"))
    run `mine('cars', max_size=3)` or run `ingest(..., dataset='cars')`
    """

    name: str
    arguments: tuple[object, ...]
    options: dict[str, object]

    def __init__(self, name: str, /, *arguments: object, **options: object) -> None:
        self.name, self.arguments, self.options = name, arguments, options

    def __str__(self) -> str:
        arguments = list(map(argument_text, self.arguments))
        arguments += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"run `{self.name}({', '.join(arguments)})`"


Part = str | Setting | Action
Text = str | Sequence[Part]
"""A clause or sentence: plain, or in parts of which some are data."""

Words = Callable[[Setting | Action], str]
"""How a front end words a setting or an action; an action without its capital letter."""


def parts_of(text: Text) -> tuple[Part, ...]:
    """The parts of a text, to put it into a longer one."""
    if isinstance(text, str):
        return (text,)
    return tuple(text)


def render(text: Text, words: Words = str) -> str:
    """A text as a front end words it; an action that begins a sentence has a capital letter.

    Examples
    --------
    >>> render(["It is too old. ", Action("mine", "cars"), " again."])
    "It is too old. Run `mine('cars')` again."
    """
    sentence = ""
    for part in parts_of(text):
        word = part if isinstance(part, str) else words(part)
        # A setting is a name, whose first letter stays as it is.
        if isinstance(part, Action) and (not sentence or sentence.endswith(". ")):
            word = word[:1].upper() + word[1:]
        sentence += word
    return sentence


class CobalanceError(Exception):
    """Base of all expected failures; the CLI prints the message without a traceback.

    Parameters
    ----------
    *parts : str, Setting or Action
        The message.

    Examples
    --------
    >>> error = CobalanceError("The disk is full. Set ", Setting("output"), " to another folder.")
    >>> print(error)
    The disk is full. Set output to another folder.
    >>> error.render(lambda setting: f"“{setting.name.capitalize()}”")
    'The disk is full. Set “Output” to another folder.'
    """

    words: Words = str
    """Wording of settings and actions in ``str(error)``."""

    def __init__(self, *parts: Part) -> None:
        self.parts = parts
        super().__init__(*parts)

    def __str__(self) -> str:
        return self.render(self.words)

    def render(self, words: Words = str) -> str:
        """The message as a front end words it, without credentials and control characters."""
        return safe_text(render(self.parts, words))

    def _render_traceback_(self) -> list[str]:
        """Lines that a notebook shows in place of a traceback, see IPython's `showtraceback`."""
        return [f"{type(self).__name__}: {self}"]


class DataError(CobalanceError):
    """Data that does not allow an operation, such as a plan for a dataset of one class."""


class InputError(DataError):
    """An annotation file, or a record in it, that cannot be used.

    Parameters
    ----------
    file : str
        The file as the user named it.
    record : str or None
        Where in the file, in the format's own terms: ``"line 14"``, ``"annotations[812]"``.
    reason : str or sequence of parts
        What is wrong, as a clause without the final full stop.
    remedy : str or sequence of parts
        What to do about it, as a sentence.

    Examples
    --------
    >>> print(InputError("a.csv", "line 3", "the label is empty", "Fill it in."))
    a.csv, line 3: the label is empty. Fill it in.
    """

    def __init__(self, file: str, record: str | None, reason: Text, remedy: Text) -> None:
        self.file, self.record, self.reason, self.remedy = file, record, reason, remedy
        place = ", ".join(filter(None, (file, record)))
        super().__init__(f"{place}: ", *parts_of(reason), ". ", *parts_of(remedy))


class OptionError(CobalanceError):
    """An option or argument whose value cannot be used, alone or beside the others."""


def suggest_names(name: str, known: Iterable[str], title: str = "Known") -> str:
    """Sentences with the known name that was meant, if one is near, and with all, or the first.

    Examples
    --------
    >>> suggest_names("COW", ["road", "cow"])
    "Did you mean 'cow'? Known: road, cow."
    >>> suggest_names("x", map(str, range(99)), "Its columns")
    'Its columns: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 89 more.'
    """
    names = list(known)
    meant = _near_name(name, names[:_COMPARED])
    hint = text_if(meant is not None, f"Did you mean {meant!r}? ")
    if len(names) <= _LISTED:
        return f"{hint}{title}: {', '.join(names) or 'none'}."
    return f"{hint}{title}: {', '.join(names[:_FEW])} and {len(names) - _FEW} more."


def _near_name(name: str, names: Iterable[str]) -> str | None:
    """Find the nearest of some names, in any case of letters."""
    by_form: dict[str, str] = {}
    for known_name in names:
        by_form |= {known_name.lower(): known_name, known_name: known_name}
    for text in (name, name.lower()):
        for form in get_close_matches(text, by_form, 1, _NEAR):
            return by_form[form]
    return None


# A message lists up to 30 names, and of more the first ten.
_LISTED = 30
_FEW = 10
# Names among which a near one is looked for, and how similar it is to be by difflib.
_COMPARED = 10_000
_NEAR = 0.66


class UnknownNameError(OptionError):
    """An unknown name; the message says which is near, and lists the known ones.

    All of them are in `known`, sorted.

    Examples
    --------
    >>> print(UnknownNameError("planner", "conbais", ["published", "conbias"]))
    unknown planner 'conbais'. Did you mean 'conbias'? Known: conbias, published.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.known = sorted(known)
        super().__init__(f"unknown {kind} {name!r}. {suggest_names(str(name), self.known)}")


def check_known(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise UnknownNameError for the first of `names` that is not among the known ones."""
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known)


class MachineError(CobalanceError):
    """The machine lacks something: a package, memory, disk space, a device."""


class MissingExtraError(MachineError):
    """Something needs packages that the installed parts of cobalance do not include.

    Parameters
    ----------
    what : str
        Such as ``"The backend inpaint"``.
    extra : str
        The extra that installs them, or several with commas.
    *instead : str or Setting
        What to do without them, as a clause.

    Examples
    --------
    >>> print(MissingExtraError("The backend inpaint", "models"))  # doctest: +ELLIPSIS
    The backend inpaint needs packages that are not installed: pip install ...[models]'.
    """

    def __init__(self, what: str, extra: str, *instead: Part) -> None:
        self.extra = extra
        needs = f"{what} needs packages that are not installed: {install_command(extra)}"
        super().__init__(needs, *instead, ".")


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Raise MissingExtraError where an import inside finds no such package."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(what, extra) from error


class WaitedTooLongError(CobalanceError, TimeoutError):
    """Something has not ended within the time that was given."""


class DuplicateNameError(CobalanceError):
    """A second registration of a name that a registry already holds."""


class StoreError(CobalanceError):
    """The graph database refused or failed."""


class StoreUnavailableError(StoreError):
    """No graph database answers: not running, not reachable, or refusing the login."""


class ConstraintViolatedError(StoreError):
    """A write that violates a constraint of the database, such as a unique key."""


class SchemaVersionError(StoreError):
    """The database's schema is of a version that this cobalance does not know."""


class NotFoundError(StoreError):
    """The store has nothing of that kind and name.

    Parameters
    ----------
    kind : str
        Such as ``"job"``, ``"dataset"`` or ``"annotation run"``.
    name : str
        The name or id that was given.
    *remedy : str, Setting or Action
        What to do about it, in sentences.

    Examples
    --------
    >>> print(NotFoundError("audit", "3f2a"))
    There is no audit '3f2a'. It may have been dropped with its dataset.
    """

    def __init__(self, kind: str, name: str, *remedy: Part) -> None:
        self.kind, self.name = kind, name
        remedy = remedy or ("It may have been dropped with its dataset.",)
        super().__init__(f"There is no {kind} {name!r}. ", *remedy)


def require_one(rows: Sequence[T], kind: str, name: str) -> T:
    """The first of the rows of one thing; NotFoundError without any."""
    if not rows:
        raise NotFoundError(kind, name)
    return rows[0]


class ConflictError(StoreError):
    """Something is in the way: of that name already, running, closed, or changed meanwhile."""


class StaleError(ConflictError):
    """Derived data (cliques, a plan) is out of date with the images."""


class QueryTextError(CobalanceError):
    """A console query that is not run, or that fails.

    Parameters
    ----------
    *parts : str, Setting or Action
        The message.
    offset : int, optional
        Where in the query the mistake is, in characters, if it is anywhere.
    """

    def __init__(self, *parts: Part, offset: int | None = None) -> None:
        self.offset = offset
        super().__init__(*parts)


class QueryRefusedError(QueryTextError):
    """A console query that is not read-only; it is not sent to the database."""


class QueryError(QueryTextError):
    """A console query that the server rejects, or whose result is too large."""


class QueryTimeoutError(CobalanceError):
    """A console query that exceeded its time limit."""


class TooManyCliquesError(CobalanceError):
    """Mining found more cliques than the limit allows."""


class JobBlockedError(CobalanceError):
    """A job cannot continue until someone fixes the cause that the message names."""


class OutOfMemoryError(MachineError):
    """The device has too little memory for a batch of this size."""


class DivergedError(CobalanceError):
    """A computation gave no finite numbers, such as a training loop whose loss became NaN."""
