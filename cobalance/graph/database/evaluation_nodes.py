"""The nodes of evaluations, of their scores, and of the tasks that make them."""

from datetime import datetime

from cobalance.graph.database.declarations import CREATED, Json, Node, Property

TASK = Node(
    "Task",
    "Long work on the job queue that makes no images, such as training a model",
    Property("id"),
    Property("kind", str, "what is done, such as evaluation"),
    Property("settings", Json, "how it is done"),
    Property("extra", str, "the packages that its worker needs"),
    Property("state", str, "queued, running, done, failed or cancelled"),
    Property("stage", str, "what it is at"),
    Property("stage_at", datetime, "when that stage began"),
    Property("done", int, "of the stage"),
    Property("total", int, "of the stage; missing where it is not known"),
    Property("note", str, "what people should know of its result"),
    Property("error", str, "why it failed"),
    *CREATED,
    Property("started_at", datetime),
    Property("ended_at", datetime),
    Property("updated_at", datetime, "of the last report of its progress"),
    Property("attempt", int, "how often it was queued again"),
    Property("starts", int, "of this attempt: more than one where workers have died"),
    indexed=(("state",),),
    scope="store",
)
EVALUATION = Node(
    "Evaluation",
    "A model trained on a dataset with one method and seed, and tested on images of another; or "
    "predictions from elsewhere",
    Property("id"),
    Property("train", str, "the dataset it was trained on; missing for other predictions"),
    Property("train_digest", int, "of that dataset's images then"),
    Property("training_set", str, "which of its images: augmented (all), real, synthetic, ..."),
    Property("most_synthetic", int, "how many of these at most; missing for all"),
    Property("test", str, "the dataset it was tested on"),
    Property("test_digest", int, "of that dataset's images then"),
    Property("job", str, "whose images the training dataset has beside the original's"),
    Property("method"),
    Property("seed", int),
    Property("settings", Json, "all but the seed: preset, features, shortcuts, ..."),
    Property("same_method", Json, "those that comparisons of training sets need equal"),
    Property("other_methods", Json, "those that comparisons of methods need equal"),
    Property("settings_list", list[str], "settings in words, the learner first"),
    Property("predictions_uri", str, "a Parquet file in the output folder"),
    *CREATED,
    Property("scored_at", datetime, "when scores were last written"),
    indexed=(("train",), ("test",)),
    scope="store",
)
SCORE = Node(
    "Score",
    "A metric of an evaluation's predictions",
    Property("key", list[str], "evaluation, metric and group"),
    Property("evaluation"),
    Property("position", int, "among the scores written with it"),
    Property("metric"),
    Property("group", str, "of images; empty for all"),
    Property("value", float, "missing where it is not defined, as for a group of no images"),
    Property("low", float, "of the confidence interval"),
    Property("high", float, "of the confidence interval"),
    Property("n", int, "images"),
    indexed=(("evaluation",),),
    scope="store",
)
