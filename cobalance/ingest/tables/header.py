"""Names of a table's columns, cleaned and checked."""

from collections.abc import Sequence

from cobalance.graph.names import clean_name
from cobalance.ingest.names import name_fault
from cobalance.ingest.problems import Problems


def column_names(given: Sequence[str], problems: Problems, place: str | None = None) -> list[str]:
    """Clean the names of a table's columns as those in its cells; a nameless one is numbered.

    Parameters
    ----------
    place : str or None
        Position of the names in the file, for errors.

    Raises
    ------
    InputError
        There are more columns than the limit, two have one name, or a name cannot be used.

    Examples
    --------
    >>> column_names([" id", "", "cafe\u0301"], Problems("a.csv"))
    ['id', 'column 2', 'café']
    """
    problems.within("columns", len(given), place)
    names = [clean_name(name) or f"column {at}" for at, name in enumerate(given, start=1)]
    seen = set()
    for name in names:
        fault = name_fault(name)
        if fault is not None:
            byte = next((ord(mark) & 0xFF for mark in name if "\udc80" <= mark <= "\udcff"), None)
            if byte is not None:  # as text files are read
                raise problems.fatal(
                    f"the byte 0x{byte:02x} is not UTF-8", "Save the file as UTF-8.", place
                )
            short = name if len(name) <= 60 else f"{name[:60]}…"
            raise problems.fatal(
                f"the column name {short!r} {fault}", "Give the column another name.", place
            )
        if name in seen:
            raise problems.fatal(
                f"two columns are named {name!r}", "Give each column a name of its own.", place
            )
        seen.add(name)
    return names
