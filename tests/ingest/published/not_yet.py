"""Forms that are not read right yet."""

NOT_YET = {
    "nuscenes": "boxes in space, which are no boxes in an image",
}
"""Forms that are not read right yet, and what they wait for.

Each is refused in a sentence: none is misread, and a form that is read has to leave this list.
"""
