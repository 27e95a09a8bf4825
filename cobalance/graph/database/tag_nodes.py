"""Nodes of people's notes on a dataset: tags, notes, excluded images, saved views."""

from datetime import datetime

from cobalance.graph.database.declarations import CREATED, Json, Node, Property

TAG = Node(
    "Tag",
    "A word that people give images",
    Property("name"),
    (
        Property("role", str, "tag, concept (its images show it) or exclude (they are left out)"),
        *CREATED,
    ),
)
IMAGE_NOTE = Node(
    "ImageNote",
    "What somebody wrote about an image",
    Property("id", str, "of the image"),
    (Property("text"), Property("written_by"), Property("written_at", datetime)),
)
EXCLUDED_IMAGE = Node(
    "ExcludedImage",
    "An image that is in no count and no export, with what brings it back",
    Property("id"),
    (
        Property("class_name"),
        Property("split"),
        Property("uri"),
        Property("width_px", int),
        Property("height_px", int),
        Property("synthetic", bool),
        Property("mentions", Json, "concept, source, score and count of each CONTAINS edge"),
    ),
)
SAVED_VIEW = Node(
    "SavedView",
    "A page's link under a name",
    Property("name"),
    (
        Property("page", str, "the page's path"),
        Property("query", str, "the link's parameters"),
        *CREATED,
    ),
)
