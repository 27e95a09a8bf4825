"""The nodes of jobs: their queries, and the candidates that workers make for these."""

from datetime import datetime

from cobalance.graph.database.declarations import CREATED, Json, Node, Property

ASKED = (
    Property("class_name"),
    Property("concepts", list[str]),
    Property("n", int, "images wanted"),
    Property("sources", list[str], "real images to make them from; missing where none is planned"),
)
"""What a query asks for, of a plan and of a job alike."""
EDITED = (
    Property("source_image", str, "the image to edit; missing where the images are made anew"),
    Property("caption", str, "of that image, edited: what the prompt is made from"),
    Property("captions", list[str], "all captions of that image, edited"),
    Property("own_group", str, "that the image showed itself when it was planned"),
)
"""What a query that edits an image has beside."""
_STARTED_AT = Property("started_at", datetime)
_ENDED_AT = Property("ended_at", datetime)
_JUDGED = (
    Property("accepted", int, "candidates"),
    Property("rejected", int, "candidates"),
    Property("pending", int, "candidates that the filters accept, before the best are chosen"),
)

JOB_COUNTERS = (
    *(
        Property(state, int, "queries in this state")
        for state in ("queued", "running", "done", "failed")
    ),
    Property("short", int, "queries that are done with fewer accepted images than wanted"),
    Property("wanted", int, "images that its queries ask for"),
    Property("covered", int, "wanted images that have an accepted candidate"),
    *_JUDGED,
    Property("remaining", int, "images that queries still to run have yet to get accepted"),
    Property("unmade", int, "candidates that they have yet to make, where the best are chosen"),
    Property("microseconds", int, "that its candidates took"),
)
"""Sums over a job's queries, kept on its node so that watching it reads one node."""

JOB = Node(
    "Job",
    "The making of a plan's images",
    Property("id"),
    Property("plan", str, "whose queries were copied"),
    Property("state", str, "preparing, queued, running, done, failed or cancelled"),
    Property("settings", Json, "how the images are made"),
    Property("recipe", str, "of the settings"),
    Property("backend", str, "of the settings"),
    Property("extra", str, "that its workers need installed"),
    *CREATED,
    _STARTED_AT,
    _ENDED_AT,
    Property("updated_at", datetime, "written to take the lock of a write"),
    Property("error", str, "why it failed"),
    Property("note", str, "what people should know of its images"),
    Property("dataset_digest", int, "of the images when it was created"),
    Property("complete", bool, "whether all its queries were written"),
    Property("attempt", int, "how often it was queued again"),
    Property("round", int),
    Property("round_spans", Json, "the images that the round makes"),
    Property("best_of", int, "candidates of each wanted image, of which one is chosen"),
    Property("expected", int, "candidates at its end, estimated as its round began"),
    Property("expected_low", int, "lower limit of that, of 95%"),
    Property("expected_high", int, "upper limit of that"),
    Property("requested", int, "images that servers were asked for; missing where none was"),
    *JOB_COUNTERS,
    scope="store",
)
JOB_QUERY = Node(
    "JobQuery",
    "A job's copy of a generation query",
    Property("id"),
    Property("job"),
    Property("position", int, "among the job's queries, from 0"),
    *ASKED,
    *EDITED,
    Property("state", str, "queued, running, done or failed"),
    *_JUDGED,
    Property("seconds", float, "that its images took to make"),
    Property("message", str, "why it failed, or what people should know"),
    Property("retries", int, "how often it was queued again"),
    Property("more", int, "candidates to make beside the first, as it was short of images"),
    Property("surplus", int, "accepted candidates that it did not want, and that are rejected"),
    Property("settled", int, "candidates among which the best were chosen, from the first on"),
    Property("dropped", int, "rejected candidates that are not kept as nodes"),
    Property("dropped_seconds", float, "that these took to make"),
    _STARTED_AT,
    _ENDED_AT,
    indexed=(("job", "state"),),
    scope="store",
)
CANDIDATE = Node(
    "Candidate",
    "An image that a worker has made for a query",
    Property("id"),
    Property("job"),
    Property("query"),
    Property("uri", str, "of its file; missing where none was kept"),
    Property("source_image", str, "the image that its object was taken from"),
    Property("source_uri", str, "of that image"),
    Property("mask_uri"),
    Property("scores", Json, "of the filters"),
    Property("provenance", Json, "model, prompt and settings it was made with"),
    Property("fingerprint", str, "perceptual hash"),
    Property("verdict", str, "accepted or rejected; pending until the best are chosen"),
    Property("rank", int, "among its query's candidates, from 1; missing for one that has none"),
    Property("reason", str, "why it was rejected"),
    Property("rejected_by", list[str], "filters that reject it, in order"),
    Property("not_found", list[str], "requested concepts that a filter did not find in it"),
    Property("decided_by", str, "missing where the filters decided"),
    Property("decided_at", datetime),
    Property("seed", int),
    Property("seconds", float, "that it took to make"),
    Property("created_at", datetime),
    indexed=(("job", "verdict"), ("query", "verdict"), ("job", "decided_at")),
    scope="store",
)
