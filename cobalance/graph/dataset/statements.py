"""Named Cypher statements on one dataset that are not derived from declarations."""

from cobalance.graph.database import Statement
from cobalance.graph.database.statements import AS_WRITER

DATASET_NAMES = Statement("All datasets.", "MATCH (d:Dataset) RETURN d.name AS name")

DATASETS = Statement(
    "All datasets with their sizes and states.",
    """
MATCH (d:Dataset)
RETURN d.name AS dataset, coalesce(d.images, 0) AS images,
       COUNT { MATCH (:Class {dataset: d.name}) } AS classes,
       COUNT { MATCH (:Concept {dataset: d.name}) } AS concepts,
       CASE WHEN d.cliques_digest IS NULL THEN COUNT { MATCH (:Clique {dataset: d.name}) }
            ELSE d.cliques END AS cliques,
       CASE WHEN d.renaming_to IS NOT NULL OR d.digest IS NULL
                 OR coalesce(d.cooccurrence_digest <> d.digest, true) THEN 'interrupted'
            WHEN d.cliques_digest = d.digest THEN 'ready'
            WHEN d.mining IS NULL THEN 'not mined'
            ELSE 'changed since mined' END AS state,
       substring(toString(d.updated_at), 0, 16) + 'Z' AS updated_at, d.source AS source,
       coalesce(d.demo, false) AS demo
ORDER BY dataset""",
)

DATASET = Statement(
    "Properties of a dataset's node.",
    "MATCH (d:Dataset {name: $dataset}) RETURN properties(d) AS dataset",
)

RENAMED_TO = Statement(
    "Datasets that are being renamed to a name.",
    "MATCH (d:Dataset {renaming_to: $dataset}) RETURN d.name AS name",
)

CREATE_DATASET = Statement(
    "Create a dataset unless it exists.",
    """
MERGE (d:Dataset {name: $dataset})
ON CREATE SET d.created_at = datetime(), d.updated_at = datetime()""",
)

BEGIN_IMAGES = Statement(
    "Mark the images as being written, and record their source.",
    """
MATCH (d:Dataset {name: $dataset})
SET d.digest = null, d.digests = 1, d.updated_at = datetime(), d.source = $source""",
)

FORGET_CLIQUES = Statement(
    "Mark the cliques as not mined, where a class or concept of theirs is about to be deleted.",
    """
MATCH (d:Dataset {name: $dataset})
WHERE EXISTS { MATCH (y:Class {dataset: $dataset}) WHERE NOT EXISTS { (y)<-[:LABELED]-() } }
  OR EXISTS { MATCH (c:Concept {dataset: $dataset}) WHERE NOT EXISTS { (c)<-[:CONTAINS]-() } }
SET d.cliques_digest = null""",
)

TAKE_NAME = Statement(
    "Begin a rename, unless the new name is taken.",
    """
MATCH (d:Dataset {name: $dataset})
OPTIONAL MATCH (other:Dataset)
WHERE other <> d AND (other.name = $new OR other.renaming_to = $new)
WITH d, count(other) AS taken
SET d.renaming_to = CASE taken WHEN 0 THEN $new ELSE d.renaming_to END
RETURN taken""",
)

END_RENAME = Statement(
    "End a rename.", "MATCH (d:Dataset {name: $dataset}) SET d.name = $new, d.renaming_to = null"
)

RENAME_EVALUATED = Statement(
    "Move evaluations of models that were trained or tested on a dataset to its new name.",
    """
MATCH (e:Evaluation) WHERE e.train = $dataset OR e.test = $dataset
SET e.train = CASE e.train WHEN $dataset THEN $new ELSE e.train END,
  e.test = CASE e.test WHEN $dataset THEN $new ELSE e.test END""",
)

DELETE_DATASET = Statement(
    "Delete a dataset's node.", "MATCH (d:Dataset {name: $dataset}) DETACH DELETE d"
)

CLASS_SIZES = Statement(
    "Images of each class.",
    """
MATCH (y:Class {dataset: $dataset})
RETURN y.name AS name, coalesce(y.images, COUNT { (y)<-[:LABELED]-() }) AS images""",
)

SPLIT_SIZES = Statement(
    "Images of each split.",
    """
MATCH (d:Dataset {name: $dataset})
CALL (d) {
  UNWIND range(0, coalesce(size(d.splits), 0) - 1) AS at
  WITH d, at WHERE d.sample IS NOT NULL
  RETURN CASE d.splits[at] WHEN '' THEN null ELSE d.splits[at] END AS split,
    d.split_images[at] AS images
  UNION ALL
  WITH d WHERE d.sample IS NULL
  MATCH (i:Image {dataset: d.name})
  RETURN i.split AS split, count(*) AS images
}
RETURN split, images ORDER BY split""",
)

# A digest of 0 is of an image that came back, and whose content is not written yet.
STORED_IMAGES = Statement(
    "Digests of all images, as counted (missing where a tag leaves them out) and as loaded.",
    """
MATCH (i:Image {dataset: $dataset})
RETURN i.id AS id, i.digest AS digest,
  CASE i.digest WHEN 0 THEN 0 ELSE coalesce(i.loaded, i.digest) END AS loaded
UNION ALL
MATCH (x:ExcludedImage {dataset: $dataset})
RETURN x.id AS id, null AS digest, coalesce(x.loaded, 0) AS loaded""",
)

SET_DIGESTS = Statement(
    "Replace the digests of images.",
    """
UNWIND $rows AS row
MATCH (i:Image {dataset: $dataset, id: row[0]}) SET i.digest = row[1], i.loaded = row[2]""",
)

LEFT_OUT = Statement(
    "Images that tags leave out, with their content.",
    """
MATCH (x:ExcludedImage {dataset: $dataset})
RETURN properties(x) AS image,
  EXISTS { MATCH (x)-[:TAGGED]->(:Tag {dataset: $dataset, role: $exclude}) } AS by_tag
ORDER BY image.id""",
)

SET_LEFT_OUT = Statement(
    "Change what images show that tags leave out.",
    """
UNWIND $rows AS row
MATCH (x:ExcludedImage {dataset: $dataset, id: row[0]}) SET x.mentions = row[1]""",
)

LEAVE_OUT = Statement(
    "Leave images out of the counts; tags, and what jobs and runs made of them, stay.",
    """
UNWIND $rows AS row
MATCH (i:Image {dataset: $dataset, id: row[0]})
SET i.class_name = row[1], i.mentions = row[2], i.loaded = coalesce(i.loaded, i.digest),
  i.digest = null
REMOVE i:Image
SET i:ExcludedImage
WITH i
MATCH (i)-[e:LABELED|CONTAINS]->()
DELETE e""",
)

BRING_BACK = Statement(
    "Bring images back, for a write of their content.",
    """
UNWIND $ids AS id
MATCH (i:ExcludedImage {dataset: $dataset, id: id})
SET i.class_name = null, i.mentions = null, i.digest = 0, i.loaded = null
REMOVE i:ExcludedImage
SET i:Image""",
)

CLASSES_OF_IMAGES = Statement(
    "The class of each image.",
    """
MATCH (y:Class {dataset: $dataset})<-[:LABELED]-(i:Image)
RETURN i.id AS id, y.name AS class_name""",
)

COUNT_IMAGES = Statement(
    "Number of images.", "RETURN COUNT { MATCH (:Image {dataset: $dataset}) } AS images"
)

_CONTENT = """
RETURN i.id AS id, y.name AS class_name, i.split AS split, i.uri AS uri, i.width_px AS width_px,
  i.height_px AS height_px, i.synthetic AS synthetic, i.cluster AS cluster,
  COLLECT { MATCH (i)-[e:CONTAINS]->(c:Concept) RETURN [c.name, e.source, e.score, e.count] }
  AS mentions"""

IMAGES = Statement(
    "All images with class and concepts.",
    f"""
MATCH (i:Image {{dataset: $dataset}})-[:LABELED]->(y:Class){_CONTENT}""",
)

SOME_IMAGES = Statement(
    "Some images with class and concepts.",
    f"""
UNWIND $ids AS id
MATCH (i:Image {{dataset: $dataset, id: id}})-[:LABELED]->(y:Class){_CONTENT}""",
)

IMAGE_CONCEPTS = Statement(
    "All images with class, split and concepts.",
    """
MATCH (i:Image {dataset: $dataset})-[:LABELED]->(y:Class)
RETURN i.id AS id, y.name AS class_name, i.split AS split, i.synthetic AS synthetic,
  i.cluster AS cluster, COLLECT { MATCH (i)-[:CONTAINS]->(c:Concept) RETURN c.name } AS concepts""",
)

IMAGE_CLUSTERS = Statement(
    "Split and cluster of all images.",
    """
MATCH (i:Image {dataset: $dataset})
RETURN i.id AS id, i.split AS split, i.cluster AS cluster ORDER BY id""",
)

GENERATED_IMAGES = Statement(
    "The ids of generated images.",
    """
MATCH (i:Image {dataset: $dataset})
WHERE i.id IS NOT NULL AND i.synthetic
RETURN i.id AS id ORDER BY id""",
)

SPLITS_OF = Statement(
    "The splits of the given images.",
    """
UNWIND $ids AS id
MATCH (i:Image {dataset: $dataset, id: id})
RETURN DISTINCT i.split AS split""",
)

REAL_FILES = Statement(
    "Files of the real images of each class.",
    """
MATCH (y:Class {dataset: $dataset})<-[:LABELED]-(i:Image)
WHERE NOT i.synthetic AND i.uri IS NOT NULL AND ($split IS NULL OR i.split = $split)
RETURN y.name AS class_name, i.id AS id, i.uri AS uri""",
)

CLIQUE_TOTALS = Statement(
    "Number of cliques mined, as kept at mining, and of concepts in the graph.",
    """
MATCH (d:Dataset {name: $dataset})
RETURN d.single_cliques AS concepts, d.cliques AS cliques, d.imbalanced_cliques AS imbalanced,
  d.leaning_cliques AS leaning, d.unproven_cliques AS unproven,
  COUNT { MATCH (:Concept {dataset: $dataset}) } AS in_graph""",
)

DELETE_UNMINED_IMAGES = Statement(
    "Delete the packed images but those that were mined last, as the dataset's writer.",
    AS_WRITER
    + """
MATCH (t:IncidenceTable {dataset: d.name}) WHERE t.digest <> $mined DELETE t""",
)

SET_MINED_IMAGES_ASIDE = Statement(
    "Make room for the packed images that follow those that were mined, as the dataset's writer.",
    AS_WRITER
    + """
MATCH (t:IncidenceTable {dataset: d.name}) WHERE t.part >= 0 SET t.part = -1 - t.part""",
)

DELETE_IMAGES_ASIDE = Statement(
    "Delete the packed images that were set aside, as the dataset's writer.",
    AS_WRITER
    + """
MATCH (t:IncidenceTable {dataset: d.name}) WHERE t.part < 0 DELETE t""",
)

IMAGE_LISTS = Statement(
    "Packed lists of images, if they are of the images that the dataset has.",
    """
MATCH (d:Dataset {name: $dataset})
UNWIND $keys AS key
MATCH (t:ImageList {dataset: d.name, key: key}) WHERE t.digest = d.digest
RETURN t.key AS key, t.content AS content""",
)

IMAGES_BY_ID = Statement(
    "Images in the order of the ids given.",
    """
UNWIND range(0, size($ids) - 1) AS at
MATCH (i:Image {dataset: $dataset, id: $ids[at]})
RETURN i.id AS id, i.uri AS uri, i.split AS split, i.synthetic AS synthetic ORDER BY at""",
)

INCIDENCE_TABLE = Statement(
    "The packed images.",
    """
MATCH (t:IncidenceTable {dataset: $dataset, digest: $digest})
RETURN t.parts AS parts, t.concepts AS concepts, t.classes AS classes, t.splits AS splits,
  t.labels AS labels, t.split_codes AS split_codes, t.lengths AS lengths, t.indices AS indices,
  t.clusters AS clusters,
  t.ids AS ids, t.uris AS uris
ORDER BY t.part""",
)

MINED_AS = Statement(
    "What the packed cliques were mined from, whether the dataset has changed since or not.",
    "MATCH (t:CliqueTable {dataset: $dataset, part: 0}) RETURN t.mined_as AS mined_as",
)

CLIQUE_TABLE_PARTS = Statement(
    "Number of parts of the packed cliques, found and expected.",
    """
MATCH (t:CliqueTable {dataset: $dataset, mined_as: $mined_as})
RETURN count(t) AS found, max(t.parts) AS parts""",
)

CLIQUE_TABLE = Statement(
    "The packed cliques.",
    """
MATCH (t:CliqueTable {dataset: $dataset, mined_as: $mined_as})
RETURN t.parts AS parts, t.concepts AS concepts, t.members AS members, t.counts AS counts,
  t.clusters AS clusters, t.design_effects AS design_effects
ORDER BY t.part""",
)

MERGE_PLAN = Statement(
    "Create a plan or change its properties.",
    "MERGE (p:Plan {dataset: $dataset, name: $plan}) SET p += $properties",
)

PLANS = Statement("All plans.", "MATCH (p:Plan {dataset: $dataset}) RETURN properties(p) AS plan")

PLAN = Statement(
    "One plan.", "MATCH (p:Plan {dataset: $dataset, name: $plan}) RETURN properties(p) AS plan"
)

LINK_QUERIES = Statement(
    "Link the queries of plans to classes, images and cliques that are there again.",
    """
MATCH (g:GenerationQuery {dataset: $dataset})
CALL (g) {
  MATCH (y:Class {dataset: $dataset, name: g.class_name}) MERGE (g)-[:FOR_CLASS]->(y)
}
CALL (g) {
  UNWIND coalesce(g.sources, []) + coalesce(g.source_image, []) AS id
  MATCH (i:Image {dataset: $dataset, id: id}) MERGE (g)-[:EDITS]->(i)
}
CALL (g) {
  WITH g WHERE g.position IS NULL
  MATCH (q:Clique {dataset: $dataset, concepts: g.concepts}) MERGE (g)-[:REBALANCES]->(q)
}""",
)

# A query whose clique was mined anew, or whose image was deleted, has lost its edge, and is
# written again.
STORED_QUERIES = Statement(
    "The digests of a plan's queries.",
    """
MATCH (g:GenerationQuery {dataset: $dataset, plan: $plan})
RETURN g.key AS key,
  CASE WHEN EXISTS { (g)-[:REBALANCES|EDITS]->() } THEN g.digest ELSE -1 END AS digest""",
)

PLAN_QUERIES = Statement(
    "A plan's queries.",
    """
MATCH (g:GenerationQuery {dataset: $dataset, plan: $plan})
RETURN g.class_name AS class_name, g.concepts AS concepts, g.n AS n, g.position AS position,
  g.sources AS sources, g.source_image AS source_image, g.caption AS caption,
  g.captions AS captions, g.own_group AS own_group""",
)

UNKNOWN_IMAGES = Statement(
    "Those of the given images that the dataset does not have.",
    """
UNWIND $ids AS id
WITH id WHERE NOT EXISTS { MATCH (:Image {dataset: $dataset, id: id}) }
RETURN id ORDER BY id""",
)
