"""The graph's nodes and edges, declared once with the types of their properties."""

from datetime import datetime

from cobalance.graph.database.annotation_nodes import ANNOTATION_RUN, ATTRIBUTE
from cobalance.graph.database.declarations import CREATED, Edge, Json, Node, Property
from cobalance.graph.database.evaluation_nodes import EVALUATION, SCORE, TASK
from cobalance.graph.database.job_nodes import ASKED, CANDIDATE, EDITED, JOB, JOB_QUERY
from cobalance.graph.database.panel_nodes import AUDIT, AUDIT_ANSWER, STUDY, STUDY_ANSWER

_DIGEST = Property("digest", int, "of its content, to find what has changed")
_NAME = Property("name")

DATASET_NODE = Node(
    "Dataset",
    "A dataset, and which of the data derived from its images is up to date",
    _NAME,
    Property("source", str, "where its annotations came from"),
    Property("images", int, "how many it has"),
    Property("created_at", datetime),
    Property("updated_at", datetime),
    Property("digest", int, "of all images; missing while they are being written"),
    Property("digests", int, "1 where each image's is mixed before they are summed; else missing"),
    Property("cooccurrence_digest", int, "of the images that CO_OCCURS edges count"),
    Property("cliques_digest", int, "of the images that the cliques were mined from"),
    Property("mining", Json, "the options that the cliques were mined with"),
    Property("mined_classes", list[str]),
    Property("mined_images", list[int], "of each of these classes"),
    Property("compared", list[str], "concepts to compare by, the present one first, not classes"),
    Property("compared_images", int, "that show the first of them"),
    Property("cliques", int, "how many were mined"),
    Property("single_cliques", int, "how many of them are of one concept"),
    Property("imbalanced_cliques", int, "how many of them have a gap above 0"),
    Property("leaning_cliques", int, "how many of them have a q-value of at most 0.05"),
    Property("unproven_cliques", int, "how many of the others have a gap above 0"),
    Property("writer", str, "token of the process that writes it"),
    Property("renaming_to", str, "its new name, while it is being renamed"),
    Property("restoring", str, "digest of the backup that it is being restored from"),
    Property("sample", int, "images of each clique and class that it keeps, if not all images"),
    Property("sample_seed", int, "that chose them"),
    Property("images_at", Json, "Parquet files in which all images stay"),
    Property("files_stamp", str, "hash of these files' places, sizes and times of change"),
    Property("splits", list[str], 'where it keeps a sample; "" for none'),
    Property("split_images", list[int], "of each of these splits"),
    Property("tag_concepts", list[str], "concepts that some of its images have by a tag"),
    Property("rebalanced_by", str, "the job whose images it has beside those of the original"),
    Property("made_from", int, "digest of the original's images that it was made from"),
    Property("demo", bool, "true where a demonstration made it, or the dataset that it is made of"),
    scope="none",
)
MIGRATION = Node(
    "Migration",
    "A schema migration that this database has seen",
    Property("version", int),
    _NAME,
    Property("applied_at", datetime),
    scope="none",
)
WORKER = Node(
    "Worker",
    "A worker process that makes images of jobs",
    Property("id"),
    Property("host", str, "its machine's name"),
    Property("job", str, "the job that it works on"),
    Property("started_at", datetime),
    Property("heartbeat_at", datetime),
    scope="none",
)

CLASS = Node(
    "Class",
    "A class, the label of images",
    _NAME,
    Property("without_concepts", int, "its images that show no concept at all"),
    Property("images", int, "how many it has, where the dataset keeps a sample of them"),
)
CONCEPT = Node(
    "Concept",
    "Something that images show beside their class",
    _NAME,
    Property("images", int, "that show it, where the dataset keeps a sample of them"),
)
IMAGE = Node(
    "Image",
    "An annotated image",
    Property("id"),
    _DIGEST,
    Property("loaded", int, "digest as loaded, where labels, properties or tags are laid over it"),
    Property("split", str, 'such as "train"'),
    Property("uri", str, "of its file, as the annotations have it"),
    Property("width_px", int),
    Property("height_px", int),
    Property("synthetic", bool, "whether it was generated"),
    Property("cluster", str, "that it shares with images that depend on it, such as a video"),
)
CLIQUE = Node(
    "Clique",
    "Concepts that occur together, with the statistics of their counts in the classes",
    Property("concepts", list[str], "names, ascending"),
    _DIGEST,
    Property("size", int, "how many concepts"),
    Property("gap", int, "largest count less the smallest, in images"),
    Property("under_represented", str, "the class with the smallest count"),
    Property("over_represented", str, "the class with the largest count"),
    Property("lift", float),
    Property("log_odds_ratio", float, "of the classes with the highest and the lowest rate"),
    Property("log_odds_ratio_low", float, "of the confidence interval"),
    Property("log_odds_ratio_high", float, "of the confidence interval"),
    Property("p_value", float),
    Property("q_value", float, "the p-value, adjusted for the number of cliques"),
    Property("test", str, "that the p-value is of"),
    Property("leans", bool, "whether the q-value is at most 0.05"),
    Property("effect", float, "largest rate less the smallest, as a share of a class"),
    Property("highest_rate", str, "the class with the largest rate"),
    Property("lowest_rate", str, "the class with the smallest rate"),
    Property("clusters", int, "in how many some image shows it; where images are in clusters"),
    indexed=(("gap",), ("leans", "effect")),
)
CLIQUE_TABLE = Node(
    "CliqueTable",
    "A part of all mined cliques, packed for reading all of them at once",
    Property("part", int, "from 0"),
    Property("mined_as", str, "the images and mining options that they are of"),
    Property("parts", int, "how many there are"),
    Property("concepts", list[str], "that the members' codes stand for"),
    Property("members", bytes, "concept codes, zlib"),
    Property("counts", bytes, "images of each class, zlib"),
    Property("clusters", bytes, "in which each stands, and freedom, zlib; where images have some"),
    Property("design_effects", bytes, "of test, interval and own effect in each class, likewise"),
)
INCIDENCE_TABLE = Node(
    "IncidenceTable",
    "A part of all images with their classes and concepts, packed for counting",
    Property("part", int, "from 0; below 0 of the images that were mined, while others follow"),
    Property("digest", int, "of the dataset's images that they are"),
    Property("parts", int, "how many there are"),
    Property("concepts", list[str], "that the indices stand for"),
    Property("classes", list[str], "that the labels stand for"),
    Property("splits", list[str], "that the split codes stand for"),
    Property("labels", bytes, "class code of each image, zlib"),
    Property("split_codes", bytes, "of each image, -1 for none, zlib"),
    Property("lengths", bytes, "how many concepts each image shows, zlib"),
    Property("clusters", bytes, "cluster code of each image, -1 for none, zlib; if any has one"),
    Property("indices", bytes, "concept codes, image after image, zlib"),
    Property("ids", bytes, "of the images as JSON, zlib"),
    Property("uris", bytes, "of their files, likewise; where only a sample are nodes"),
)
IMAGE_LIST = Node(
    "ImageList",
    "The images of a class or of a concept, packed for finding those that show several",
    Property("key", list[str], '"class" or "concept" and its name, or "ids" and the page'),
    Property("digest", int, "of the dataset's images that it is of"),
    Property("content", bytes, "ranks among all ids, each less the one before; or ids; zlib"),
)
PLAN = Node(
    "Plan",
    "Generation queries that rebalance the dataset",
    _NAME,
    Property("planner"),
    Property("mined_as", str, "the images and mining options that it was made for"),
    Property("images_digest", int, "of the images that it was made for, where it edits them"),
    Property("min_size", int, "of its cliques"),
    Property("max_size", int, "of its cliques"),
    Property("images", int, "that it asks for"),
    Property("max_per_query", int, "the limit it was made with"),
    Property("budget", int, "the limit it was made with"),
    Property("planner_options", Json, "the planner's own options"),
)
GENERATION_QUERY = Node(
    "GenerationQuery",
    "Images that a plan asks for: so many of a class that show some concepts, or of one image",
    Property("key", list[str], "plan, class and concepts; or plan, class, nothing, source image"),
    _DIGEST,
    Property("plan"),
    *ASKED,
    *EDITED,
    Property("position", int, "among the plan's queries, where these edit images or name sources"),
    indexed=(("plan",),),
)

TAG = Node(
    "Tag",
    "A word that people give images",
    Property("name"),
    Property("role", str, "tag, concept (its images show it) or exclude (they are left out)"),
    *CREATED,
)
IMAGE_NOTE = Node(
    "ImageNote",
    "What somebody wrote about an image",
    Property("id", str, "of the image"),
    Property("text"),
    Property("written_by"),
    Property("written_at", datetime),
)
EXCLUDED_IMAGE = Node(
    "ExcludedImage",
    "An image that is in no count and no export, with what brings it back",
    Property("id"),
    Property("loaded", int, "digest of its content as loaded"),
    Property("class_name"),
    Property("split"),
    Property("uri"),
    Property("width_px", int),
    Property("height_px", int),
    Property("synthetic", bool),
    Property("cluster"),
    Property("mentions", Json, "concept, source, score and count of each CONTAINS edge"),
)
SAVED_VIEW = Node(
    "SavedView",
    "A page's link under a name",
    Property("name"),
    Property("page", str, "the page's path"),
    Property("query", str, "the link's parameters"),
    *CREATED,
)

_IMAGES = Property("images", int, "that show both")

LABELED = Edge("LABELED", IMAGE, CLASS, "the image is of the class")
CONTAINS = Edge(
    "CONTAINS",
    IMAGE,
    CONCEPT,
    "the image shows the concept",
    Property("source", str, "of the mention, such as annotation or a model's name"),
    Property("score", float, "the confidence of the surest mention"),
    Property("count", int, "mentions"),
)
CO_OCCURS = Edge("CO_OCCURS", CONCEPT, CONCEPT, "from the lower name to the higher", _IMAGES)
CLASS_CO_OCCURS = Edge("CO_OCCURS", CLASS, CONCEPT, "some image of the class shows it", _IMAGES)
HAS = Edge("HAS", CLIQUE, CONCEPT, "the concept is a member")
COUNTED_IN = Edge(
    "COUNTED_IN",
    CLIQUE,
    CLASS,
    "how often the clique occurs in the class",
    Property("images", int, "of the class that show all concepts; may be 0"),
)
REBALANCES = Edge("REBALANCES", GENERATION_QUERY, CLIQUE, "the imbalance that it closes")
FOR_CLASS = Edge("FOR_CLASS", GENERATION_QUERY, CLASS, "the class to make images of")
EDITS = Edge("EDITS", GENERATION_QUERY, IMAGE, "the image to edit, or a source, while it exists")
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
    Property("run"),
    Property("score", float, "of the model, in its own scale"),
)
STUDIES = Edge("STUDIES", STUDY, JOB, "the job whose images people judge")
GIVEN_IN = Edge("GIVEN_IN", STUDY_ANSWER, STUDY, "the answer is part of the study")
JUDGES = Edge("JUDGES", STUDY_ANSWER, CANDIDATE, "the edited image of the pair")
AUDITS = Edge("AUDITS", AUDIT, ANNOTATION_RUN, "the run whose labels people check")
AUDIT_GIVEN_IN = Edge("GIVEN_IN", AUDIT_ANSWER, AUDIT, "the answer is part of the audit")
AUDIT_JUDGES = Edge("JUDGES", AUDIT_ANSWER, IMAGE, "the image, while it exists")
TAGGED = Edge(
    "TAGGED",
    IMAGE,
    TAG,
    "somebody gave the image the tag; also of an ExcludedImage",
    Property("by", str, "who"),
    Property("at", datetime),
)
ABOUT = Edge("ABOUT", IMAGE_NOTE, IMAGE, "the image, while it exists")

NODES = (CLASS, CONCEPT, IMAGE, CLIQUE, PLAN, GENERATION_QUERY)
"""The concept graph and what is planned with it."""
JOB_NODES = (JOB, JOB_QUERY, CANDIDATE)
EVALUATION_NODES = (TASK, EVALUATION, SCORE, STUDY, STUDY_ANSWER)
ANNOTATION_NODES = (ATTRIBUTE, ANNOTATION_RUN, AUDIT, AUDIT_ANSWER)
MARK_NODES = (TAG, IMAGE_NOTE, EXCLUDED_IMAGE, SAVED_VIEW)
"""What people note of a dataset."""
COPIES = (CLIQUE_TABLE, INCIDENCE_TABLE, IMAGE_LIST)
"""Packed copies of other nodes, for reading all of them at once."""
STORE_NODES = (DATASET_NODE, WORKER, MIGRATION)
"""Nodes that belong to no dataset."""

ALL_NODES = (
    NODES + JOB_NODES + EVALUATION_NODES + ANNOTATION_NODES + MARK_NODES + COPIES + STORE_NODES
)
EDGES = tuple(edge for edge in dict(globals()).values() if isinstance(edge, Edge))
"""All kinds of edges, in the order of their declarations."""
