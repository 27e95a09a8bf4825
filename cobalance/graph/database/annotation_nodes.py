"""The nodes of annotation runs, and of the attributes that they propose."""

from datetime import datetime

from cobalance.graph.database.declarations import CREATED, Json, Node, Property

ANNOTATION_RUN = Node(
    "AnnotationRun",
    "Models that proposed attributes for a dataset, or labelled its images",
    Property("id"),
    Property("kind", str, "propose, label or caption"),
    Property("model", str, "its name, or the last part of its folder"),
    Property("revision", str, "the commit of its weights; missing for a folder or an endpoint"),
    Property("weights_sha256", str, "missing where the model runs elsewhere"),
    Property("licence", str, "of the model, by its publisher; missing where it is not known"),
    Property("settings", Json, "all else that decides the result"),
    Property("prompt_sha256", str, "of all texts that the model is asked, in order"),
    Property("state", str, "queued, running, done, failed, cancelled, accepted or rejected"),
    Property("images_digest", int, "of the dataset's images that were labelled"),
    Property("scores_uri", str, "a folder of Parquet files with every score, low ones too"),
    Property("chunks", int, "tasks that the labelling is divided into"),
    Property("error", str, "why it failed"),
    *CREATED,
    Property("ended_at", datetime),
    Property("decided_by", str, "who accepted or rejected it"),
    Property("decided_at", datetime),
    scope="store",
)
ATTRIBUTE = Node(
    "Attribute",
    "Something that images of a domain may show, as a model or a person proposed it",
    Property("key", list[str], "category and the name that was proposed"),
    Property("name", str, "as it was proposed, or as a person renamed it"),
    Property("category"),
    Property("level", str, "image, or object: what finds it"),
    Property("caption", str, "the text that an image of it is matched with"),
    Property("votes", int, "rounds that proposed it"),
    Property("rounds", int, "that were asked"),
    Property("position", int, "among all that were proposed together, from 0"),
    Property("flags", list[str], "why a person should look at it: names a class, ..."),
    Property("state", str, "proposed, accepted, rejected or merged"),
    Property("decided_by"),
    Property("decided_at", datetime),
)
