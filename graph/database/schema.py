"""The graph's nodes and edges, declared once with the types of their properties."""

from datetime import datetime

from graph.database.annotation_nodes import ANNOTATION_RUN, ATTRIBUTE
from graph.database.declarations import Edge, Json, Node, Property
from graph.database.evaluation_nodes import EVALUATION, SCORE, TASK
from graph.database.study_nodes import STUDY, STUDY_ANSWER

_DIGEST = Property("digest", int, "of its content, to find what has changed")
_NAME = Property("name")
_STARTED_AT = Property("started_at", datetime)
_ENDED_AT = Property("ended_at", datetime)
_ASKED = (
    Property("class_name"),
    Property("concepts", list[str]),
    Property("n", int, "images wanted"),
)
_EDITED = (
    Property("source_image", str, "the image to edit; missing where the images are made anew"),
    Property("caption", str, "of that image, edited: what the prompt is made from"),
    Property("captions", list[str], "all captions of that image, edited"),
    Property("own_group", str, "that the image showed itself when it was planned"),
)
_JUDGED = (
    Property("accepted", int, "candidates"),
    Property("rejected", int, "candidates"),
    Property("pending", int, "candidates that the filters accept, before the best are chosen"),
)

DATASET_NODE = Node(
    "Dataset",
    "A dataset, and which of the data derived from its images is up to date",
    _NAME,
    (
        Property("source", str, "where its annotations came from"),
        Property("images", int, "how many it has"),
        Property("created_at", datetime),
        Property("updated_at", datetime),
        Property("digest", int, "of all images; missing while they are being written"),
        Property("cooccurrence_digest", int, "of the images that CO_OCCURS edges count"),
        Property("cliques_digest", int, "of the images that the cliques were mined from"),
        Property("mining", Json, "the options that the cliques were mined with"),
        Property("mined_classes", list[str]),
        Property("mined_images", list[int], "of each of these classes"),
        Property("cliques", int, "how many were mined"),
        Property("single_cliques", int, "how many of them are of one concept"),
        Property("imbalanced_cliques", int, "how many of them have a gap above 0"),
        Property("writer", str, "token of the process that writes it"),
        Property("renaming_to", str, "its new name, while it is being renamed"),
        Property("rebalanced_by", str, "the job whose images it has beside those of the original"),
    ),
    scope="none",
)
MIGRATION = Node(
    "Migration",
    "A schema migration that this database has seen",
    Property("version", int),
    (_NAME, Property("applied_at", datetime)),
    scope="none",
)
WORKER = Node(
    "Worker",
    "A worker process that makes images of jobs",
    Property("id"),
    (
        Property("host", str, "its machine's name"),
        Property("job", str, "the job that it works on"),
        _STARTED_AT,
        Property("heartbeat_at", datetime),
    ),
    scope="none",
)

CLASS = Node(
    "Class",
    "A class, the label of images",
    _NAME,
    (Property("without_concepts", int, "its images that show no concept at all"),),
)
CONCEPT = Node("Concept", "Something that images show beside their class", _NAME)
IMAGE = Node(
    "Image",
    "An annotated image",
    Property("id"),
    (
        _DIGEST,
        Property("split", str, 'such as "train"'),
        Property("uri", str, "of its file, as the annotations have it"),
        Property("width_px", int),
        Property("height_px", int),
        Property("synthetic", bool, "whether it was generated"),
    ),
)
CLIQUE = Node(
    "Clique",
    "Concepts that occur together, with the statistics of their counts in the classes",
    Property("concepts", list[str], "names, ascending"),
    (
        _DIGEST,
        Property("size", int, "how many concepts"),
        Property("gap", int, "largest count less the smallest, in images"),
        Property("under_represented", str, "the class with the smallest count"),
        Property("over_represented", str, "the class with the largest count"),
        Property("lift", float),
        Property("log_odds_ratio", float),
        Property("log_odds_ratio_low", float, "of the confidence interval"),
        Property("log_odds_ratio_high", float, "of the confidence interval"),
        Property("p_value", float),
        Property("q_value", float, "the p-value, adjusted for the number of cliques"),
        Property("test", str, "that the p-value is of"),
    ),
    (("gap",),),
)
CLIQUE_TABLE = Node(
    "CliqueTable",
    "A part of all mined cliques, packed for reading all of them at once",
    Property("part", int, "from 0"),
    (
        Property("mined_as", str, "the images and mining options that they are of"),
        Property("parts", int, "how many there are"),
        Property("concepts", list[str], "that the members' codes stand for"),
        Property("members", bytes, "concept codes, zlib"),
        Property("counts", bytes, "images of each class, zlib"),
    ),
)
INCIDENCE_TABLE = Node(
    "IncidenceTable",
    "A part of all images with their classes and concepts, packed for counting",
    Property("part", int, "from 0"),
    (
        Property("digest", int, "of the dataset's images that they are"),
        Property("parts", int, "how many there are"),
        Property("concepts", list[str], "that the indices stand for"),
        Property("classes", list[str], "that the labels stand for"),
        Property("splits", list[str], "that the split codes stand for"),
        Property("labels", bytes, "class code of each image, zlib"),
        Property("split_codes", bytes, "of each image, -1 for none, zlib"),
        Property("lengths", bytes, "how many concepts each image shows, zlib"),
        Property("indices", bytes, "concept codes, image after image, zlib"),
    ),
)
IMAGE_LIST = Node(
    "ImageList",
    "The images of a class or of a concept, packed for finding those that show several",
    Property("key", list[str], '"class" or "concept" and its name, or "ids" and the page'),
    (
        Property("digest", int, "of the dataset's images that it is of"),
        Property("content", bytes, "ranks among all ids, each less the one before; or ids; zlib"),
    ),
)
PLAN = Node(
    "Plan",
    "Generation queries that rebalance the dataset",
    _NAME,
    (
        Property("planner"),
        Property("mined_as", str, "the images and mining options that it was made for"),
        Property("images_digest", int, "of the images that it was made for, where it edits them"),
        Property("min_size", int, "of its cliques"),
        Property("max_size", int, "of its cliques"),
        Property("images", int, "that it asks for"),
        Property("max_per_query", int, "the limit it was made with"),
        Property("budget", int, "the limit it was made with"),
        Property("planner_options", Json, "the planner's own options"),
    ),
)
GENERATION_QUERY = Node(
    "GenerationQuery",
    "Images that a plan asks for: so many of a class that show some concepts, or of one image",
    Property("key", list[str], "plan, class and concepts; or plan, class, nothing, source image"),
    (
        _DIGEST,
        Property("plan"),
        *_ASKED,
        *_EDITED,
        Property("position", int, "among the plan's queries that edit images"),
    ),
    (("plan",),),
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
    (
        Property("plan", str, "whose queries were copied"),
        Property("state", str, "preparing, queued, running, done, failed or cancelled"),
        Property("settings", Json, "how the images are made"),
        Property("recipe", str, "of the settings"),
        Property("backend", str, "of the settings"),
        Property("created_by"),
        Property("created_at", datetime),
        _STARTED_AT,
        _ENDED_AT,
        Property("updated_at", datetime, "written to take the lock of a write"),
        Property("heartbeat_at", datetime, "of the last worker heard of"),
        Property("error", str, "why it failed"),
        Property("note", str, "what people should know of its images"),
        Property("dataset_digest", int, "of the images when it was created"),
        Property("complete", bool, "whether all its queries were written"),
        Property("attempt", int, "how often it was queued again"),
        Property("round", int),
        Property("round_spans", Json, "the images that the round makes"),
        Property("best_of", int, "candidates of each wanted image, of which one is chosen"),
        *JOB_COUNTERS,
    ),
    scope="store",
)
JOB_QUERY = Node(
    "JobQuery",
    "A job's copy of a generation query",
    Property("id"),
    (
        Property("job"),
        Property("position", int, "among the job's queries, from 0"),
        *_ASKED,
        *_EDITED,
        Property("state", str, "queued, running, done or failed"),
        *_JUDGED,
        Property("seconds", float, "that its images took to make"),
        Property("message", str, "why it failed, or what people should know"),
        Property("retries", int, "how often it was queued again"),
        Property("more", int, "candidates to make beside the first, as it was short of images"),
        Property("settled", int, "candidates among which the best were chosen, from the first on"),
        Property("dropped", int, "rejected candidates that are not kept as nodes"),
        Property("dropped_seconds", float, "that these took to make"),
        _STARTED_AT,
        _ENDED_AT,
    ),
    (("job", "state"),),
    scope="store",
)
CANDIDATE = Node(
    "Candidate",
    "An image that a worker has made for a query",
    Property("id"),
    (
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
        Property(
            "rank", int, "among its query's candidates, from 1; missing for one that has none"
        ),
        Property("reason", str, "why it was rejected"),
        Property("decided_by", str, "missing where the filters decided"),
        Property("decided_at", datetime),
        Property("seed", int),
        Property("seconds", float, "that it took to make"),
        Property("created_at", datetime),
    ),
    (("job", "verdict"), ("query", "verdict"), ("job", "decided_at")),
    scope="store",
)
_IMAGES = Property("images", int, "that show both")

LABELED = Edge("LABELED", IMAGE, CLASS, "the image is of the class")
CONTAINS = Edge(
    "CONTAINS",
    IMAGE,
    CONCEPT,
    "the image shows the concept",
    (
        Property("source", str, "of the mention, such as annotation or a model's name"),
        Property("score", float, "the confidence of the surest mention"),
        Property("count", int, "mentions"),
    ),
)
CO_OCCURS = Edge("CO_OCCURS", CONCEPT, CONCEPT, "from the lower name to the higher", (_IMAGES,))
CLASS_CO_OCCURS = Edge("CO_OCCURS", CLASS, CONCEPT, "some image of the class shows it", (_IMAGES,))
HAS = Edge("HAS", CLIQUE, CONCEPT, "the concept is a member")
COUNTED_IN = Edge(
    "COUNTED_IN",
    CLIQUE,
    CLASS,
    "how often the clique occurs in the class",
    (Property("images", int, "of the class that show all concepts; may be 0"),),
)
REBALANCES = Edge("REBALANCES", GENERATION_QUERY, CLIQUE, "the imbalance that it closes")
FOR_CLASS = Edge("FOR_CLASS", GENERATION_QUERY, CLASS, "the class to make images of")
EDITS = Edge("EDITS", GENERATION_QUERY, IMAGE, "the image to edit, while it exists")
ASKED_BY = Edge("ASKED_BY", GENERATION_QUERY, PLAN, "the query is part of the plan")
RUNS = Edge("RUNS", JOB, JOB_QUERY, "the query is part of the job")
JOB_REBALANCES = Edge("REBALANCES", JOB_QUERY, CLIQUE, "while the clique exists")
JOB_FOR_CLASS = Edge("FOR_CLASS", JOB_QUERY, CLASS, "while the class exists")
JOB_EDITS = Edge("EDITS", JOB_QUERY, IMAGE, "the image to edit, while it exists")
MADE_FOR = Edge("MADE_FOR", CANDIDATE, JOB_QUERY, "the query that it was made for")
GENERATED_BY = Edge("GENERATED_BY", IMAGE, JOB, "the job, of whichever dataset it is")
DERIVED_FROM = Edge("DERIVED_FROM", IMAGE, IMAGE, "the image that its object was taken from")
EVALUATES = Edge("EVALUATES", TASK, EVALUATION, "the work that trains and tests the model")
TRAINED_ON = Edge("TRAINED_ON", EVALUATION, DATASET_NODE, "while the dataset exists")
TESTED_ON = Edge("TESTED_ON", EVALUATION, DATASET_NODE, "while the dataset exists")
OF = Edge("OF", EVALUATION, JOB, "the job whose images the training dataset has, while it exists")
SCORED = Edge("SCORED", EVALUATION, SCORE, "a score of its predictions")
WORKS_FOR = Edge("WORKS_FOR", TASK, ANNOTATION_RUN, "the labelling of some of its images")
PROPOSED_BY = Edge("PROPOSED_BY", ATTRIBUTE, ANNOTATION_RUN, "the run that proposed it last")
MERGED_INTO = Edge("MERGED_INTO", ATTRIBUTE, ATTRIBUTE, "which stands for both")
BECOMES = Edge("BECOMES", ATTRIBUTE, CONCEPT, "the concept of its labels, while an image has it")
FOUND = Edge(
    "FOUND",
    IMAGE,
    CONCEPT,
    "a run found the concept in the image; one for each run",
    (Property("run"), Property("score", float, "of the model, in its own scale")),
)
STUDIES = Edge("STUDIES", STUDY, JOB, "the job whose images people judge")
GIVEN_IN = Edge("GIVEN_IN", STUDY_ANSWER, STUDY, "the answer is part of the study")
JUDGES = Edge("JUDGES", STUDY_ANSWER, CANDIDATE, "the edited image of the pair")

NODES = (CLASS, CONCEPT, IMAGE, CLIQUE, PLAN, GENERATION_QUERY)
"""The concept graph and what is planned with it."""
JOB_NODES = (JOB, JOB_QUERY, CANDIDATE)
EVALUATION_NODES = (TASK, EVALUATION, SCORE, STUDY, STUDY_ANSWER)
ANNOTATION_NODES = (ATTRIBUTE, ANNOTATION_RUN)
COPIES = (CLIQUE_TABLE, INCIDENCE_TABLE, IMAGE_LIST)
"""Packed copies of other nodes, for reading all of them at once."""
STORE_NODES = (DATASET_NODE, WORKER, MIGRATION)
"""Nodes that belong to no dataset."""

ALL_NODES = (*NODES, *JOB_NODES, *EVALUATION_NODES, *ANNOTATION_NODES, *COPIES, *STORE_NODES)
EDGES = (
    LABELED,
    CONTAINS,
    CO_OCCURS,
    CLASS_CO_OCCURS,
    HAS,
    COUNTED_IN,
    REBALANCES,
    FOR_CLASS,
    EDITS,
    ASKED_BY,
    RUNS,
    JOB_REBALANCES,
    JOB_FOR_CLASS,
    JOB_EDITS,
    MADE_FOR,
    GENERATED_BY,
    DERIVED_FROM,
    EVALUATES,
    TRAINED_ON,
    TESTED_ON,
    OF,
    SCORED,
    WORKS_FOR,
    PROPOSED_BY,
    MERGED_INTO,
    BECOMES,
    FOUND,
    STUDIES,
    GIVEN_IN,
    JUDGES,
)
