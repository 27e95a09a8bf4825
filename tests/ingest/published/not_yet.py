"""Forms that are not read right yet."""

NOT_YET: dict[str, str] = {}
"""Forms that are not read right yet, and what they wait for.

Each is refused in a sentence: none is misread, and a form that is read has to leave this list.
"""
