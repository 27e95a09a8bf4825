"""Names of people who are asked."""

from collections.abc import Sequence

from cobalance.graph.errors import OptionError, Setting
from cobalance.graph.names import clean_name
from cobalance.ingest.names import name_fault


def people_named(given: Sequence[str]) -> list[str]:
    """Names of people as the graph has them.

    Raises
    ------
    OptionError
        There is none, one is there twice, or one is no name.
    """
    people = [clean_name(name) for name in given]
    if not people:
        raise OptionError("Nobody is named who judges. Name them with ", Setting("people"), ".")
    for name in people:
        fault = name_fault(name)
        if fault is None and people.count(name) > 1:
            fault = "is there twice"
        if fault is not None:
            raise OptionError(
                f"{name!r} among the people who judge {fault}. Give a name for each with ",
                Setting("people"),
                ".",
            )
    return people
