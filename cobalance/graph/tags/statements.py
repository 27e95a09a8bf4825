"""Named Cypher of tags, notes, images that are left out, and saved views."""

from cobalance.graph.database import Statement

_IMAGE = """OPTIONAL MATCH (i:Image {dataset: $dataset, id: id})
OPTIONAL MATCH (x:ExcludedImage {dataset: $dataset, id: id})"""

UNKNOWN_IMAGES = Statement(
    "Those of the given images that the dataset has neither in its counts nor left out.",
    """
UNWIND $ids AS id
WITH id WHERE NOT EXISTS { MATCH (:Image {dataset: $dataset, id: id}) }
  AND NOT EXISTS { MATCH (:ExcludedImage {dataset: $dataset, id: id}) }
RETURN id ORDER BY id LIMIT 5""",
)

TAG_IMAGES = Statement(
    "Give images a tag, which is made if it does not exist.",
    f"""
MATCH (d:Dataset {{name: $dataset}}) SET d.updated_at = d.updated_at
MERGE (t:Tag {{dataset: $dataset, name: $tag}})
ON CREATE SET t.role = $role, t.created_by = $by, t.created_at = datetime()
WITH t
UNWIND $ids AS id
{_IMAGE}
WITH t, coalesce(i, x) AS i WHERE i IS NOT NULL
MERGE (i)-[e:TAGGED]->(t)
ON CREATE SET e.by = $by, e.at = datetime()
RETURN count(*) AS written""",
)

UNTAG_IMAGES = Statement(
    "Take a tag from images.",
    f"""
MATCH (t:Tag {{dataset: $dataset, name: $tag}})
UNWIND $ids AS id
{_IMAGE}
WITH t, coalesce(i, x) AS i WHERE i IS NOT NULL
MATCH (i)-[e:TAGGED]->(t)
DELETE e
RETURN count(*) AS written""",
)

SET_ROLE = Statement(
    "Say what a tag does.",
    "MATCH (t:Tag {dataset: $dataset, name: $tag}) SET t.role = $role RETURN t.name AS name",
)

DELETE_TAG = Statement(
    "Delete a tag, and take it from its images.",
    "MATCH (t:Tag {dataset: $dataset, name: $tag}) DETACH DELETE t RETURN count(*) AS deleted",
)

TAGS = Statement(
    "The tags of a dataset, with their images.",
    """
MATCH (t:Tag {dataset: $dataset})
CALL (t) {
  MATCH (i)-[:TAGGED]->(t)
  RETURN count(*) AS images, count(CASE WHEN i:ExcludedImage THEN 1 END) AS left_out
}
CALL (t) {
  MATCH (i:Image)-[:TAGGED]->(t)
  WHERE EXISTS { MATCH (i)-[:CONTAINS]->(:Concept {dataset: $dataset, name: t.name}) }
  RETURN count(*) AS shown
}
RETURN t.name AS tag, t.role AS role, images, shown, left_out, t.created_by AS created_by,
  substring(toString(t.created_at), 0, 16) + $utc AS created_at
ORDER BY tag""",
)

IMAGES_OF_TAG = Statement(
    "The images with a tag.",
    """
MATCH (t:Tag {dataset: $dataset, name: $tag})<-[e:TAGGED]-(i)
RETURN i.id AS image,
  coalesce(i.class_name, head(COLLECT { MATCH (i)-[:LABELED]->(y:Class) RETURN y.name })) AS class,
  i:ExcludedImage AS left_out, e.by AS tagged_by,
  substring(toString(e.at), 0, 16) + $utc AS tagged_at
ORDER BY image""",
)

MARKS_OF_IMAGES = Statement(
    "Tags and note of images.",
    f"""
UNWIND $ids AS id
{_IMAGE}
WITH id, coalesce(i, x) AS i
OPTIONAL MATCH (n:ImageNote {{dataset: $dataset, id: id}})
RETURN id, COLLECT {{ MATCH (i)-[:TAGGED]->(t:Tag) RETURN t.name ORDER BY t.name }} AS tags,
  n.text AS note""",
)

WRITE_NOTE = Statement(
    "Write about an image, in place of what was written before.",
    f"""
WITH $id AS id
{_IMAGE}
WITH coalesce(i, x) AS i
MERGE (n:ImageNote {{dataset: $dataset, id: $id}})
SET n.text = $note, n.written_by = $by, n.written_at = datetime()
MERGE (n)-[:ABOUT]->(i)""",
)

DELETE_NOTE = Statement(
    "Delete what was written about an image.",
    "MATCH (n:ImageNote {dataset: $dataset, id: $id}) DETACH DELETE n",
)

NOTES = Statement(
    "What was written about images.",
    """
MATCH (n:ImageNote {dataset: $dataset})
RETURN n.id AS image, n.text AS note, n.written_by AS written_by,
  substring(toString(n.written_at), 0, 16) + $utc AS written_at
ORDER BY image""",
)

TO_LEAVE_OUT = Statement(
    "Images in the counts with a tag that leaves them out.",
    """
MATCH (t:Tag {dataset: $dataset, role: $exclude})<-[:TAGGED]-(i:Image)
RETURN DISTINCT i.id AS id ORDER BY id""",
)

CONCEPT_TAGS = Statement(
    "Images, left out or not, with the tags that they show as concepts.",
    """
MATCH (t:Tag {dataset: $dataset, role: $concept})<-[:TAGGED]-(i)
RETURN i.id AS id, t.name AS concept, i:Image AS counted,
  EXISTS { MATCH (i)-[:CONTAINS]->(:Concept {dataset: $dataset, name: t.name}) } AS shown""",
)

SHOWN_BY_TAG = Statement(
    "Images that show a concept because of a tag.",
    """
MATCH (d:Dataset {name: $dataset})
UNWIND coalesce(d.tag_concepts, []) AS name
MATCH (c:Concept {dataset: $dataset, name: name})<-[:CONTAINS {source: $source}]-(i:Image)
RETURN i.id AS id, name AS concept""",
)

SAVE_VIEW = Statement(
    "Save a link under a name, in place of what had the name before.",
    """
MATCH (d:Dataset {name: $dataset})
MERGE (v:SavedView {dataset: d.name, name: $view})
SET v.page = $page, v.query = $query, v.created_by = $by, v.created_at = datetime()""",
)

SAVED_VIEWS = Statement(
    "The saved views of a dataset.",
    """
MATCH (v:SavedView {dataset: $dataset})
RETURN v.name AS view, v.page AS page, v.query AS query, v.created_by AS created_by,
  substring(toString(v.created_at), 0, 16) + $utc AS created_at
ORDER BY view""",
)

RENAME_VIEW = Statement(
    "Rename a saved view, unless another has the name.",
    """
MATCH (v:SavedView {dataset: $dataset, name: $view})
WHERE NOT EXISTS { MATCH (:SavedView {dataset: $dataset, name: $new}) }
SET v.name = $new
RETURN v.name AS name""",
)

DELETE_VIEW = Statement(
    "Delete a saved view.", "MATCH (v:SavedView {dataset: $dataset, name: $view}) DELETE v"
)
