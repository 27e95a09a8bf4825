"""Forms that are not read right yet."""

_READER = "a reader of its own"
NOT_YET = {
    "cub_attributes": "rows of image, attribute and flag; names of codes in a file",
    "retinanet_csv": "boxes in columns of a table without a header",
    **dict.fromkeys(("nuimages", "via_csv", "croissant"), _READER),
    "tensorflow_csv": "boxes in columns of a table",
}
"""Forms that are not read right yet, and what they wait for.

Each is refused, or what is read differs from the truth: a form that is read right has to leave this
list, and those that begin with "misread" are to leave it first.
"""
