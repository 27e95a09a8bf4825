"""Named Cypher of audits, studies and their answers, derived from declarations."""

from collections.abc import Mapping
from dataclasses import dataclass

from cobalance.graph.database import AUDIT_JUDGES, AUDITS, JUDGES, STUDIES, Edge, Statement
from cobalance.graph.database.statements import merge_clause


@dataclass(frozen=True)
class PanelKind:
    """Declaration of audits, or of studies.

    Parameters
    ----------
    name : str
        Such as audit, as answers name theirs.
    subject : str
        The property with the id of what the panel is about.
    about, judges : Edge
        From a panel to its subject, and from an answer to what it judges.
    columns : mapping of str to str
        Properties that key an answer, beside its panel, in the order of the key, by their columns.
    """

    name: str
    subject: str
    about: Edge
    judges: Edge
    columns: Mapping[str, str]

    @property
    def create(self) -> Statement:
        """Creates a panel, under the lock that drops and renames take."""
        about = self.about
        return Statement(
            f"Create one of the {about.start.label} nodes, under the lock of drops and renames.",
            f"""
MATCH (s:{about.end.label} {{id: $subject}})
MATCH (d:Dataset {{name: s.dataset}}) SET d.updated_at = d.updated_at
WITH s, d WHERE d.renaming_to IS NULL AND d.digest IS NOT NULL
UNWIND [$row] AS row
{merge_clause(about.start, "p", "row")}, p.dataset = d.name, p.{self.subject} = s.id,
  p.created_at = datetime()
MERGE (p)-[:{about.type}]->(s)
RETURN p.id AS id""",
        )

    @property
    def save(self) -> Statement:
        """Writes answers, unless the panel is closed."""
        panel, answer, judged = self.about.start, self.judges.start, self.judges.end
        within = "dataset: p.dataset, " if judged.scope == "dataset" else ""
        is_open = " WHERE p.closed_at IS NULL" if "closed_at" in panel.property_names else ""
        return Statement(
            f"Write {answer.label} nodes in place of the same people's earlier ones.",
            f"""
MATCH (p:{panel.label} {{id: $panel}}) SET p.updated_at = p.updated_at
WITH p{is_open}
UNWIND $rows AS row
{merge_clause(answer, "a", "row")}, a.dataset = p.dataset
SET a.answer = row.properties.answer, a.answered_at = datetime()
MERGE (a)-[:GIVEN_IN]->(p)
WITH p, a, row
OPTIONAL MATCH (j:{judged.label} {{{within}id: row.key[1]}})
FOREACH (one IN CASE WHEN j IS NULL THEN [] ELSE [j] END | MERGE (a)-[:JUDGES]->(one))
RETURN count(a) AS written""",
        )

    def read(self, by: str) -> Statement:
        """Reads the panels with a value of one of the properties id, dataset or `subject`."""
        node = self.about.start
        return Statement(
            f"{node.label} nodes of one {by}, newest first.",
            f"""
MATCH (p:{node.label} {{{by}: $value}})
RETURN p {{{node.projection("p", ("created_by", "updated_at"))}}} AS panel
ORDER BY panel.created_at DESC, panel.id""",
        )

    @property
    def answers(self) -> Statement:
        """Reads the answers of a panel, of one person or of all."""
        returned = ", ".join(f"a.{stored} AS {name}" for name, stored in self.columns.items())
        names = [name for name in self.columns if name != "person"]
        return Statement(
            f"{self.judges.start.label} nodes, all or those of one person.",
            f"""
MATCH (a:{self.judges.start.label} {{{self.name}: $panel}})
WHERE $person IS NULL OR a.person = $person
RETURN {returned}, a.answer AS answer
ORDER BY person, {", ".join(reversed(names))}""",
        )


AUDIT_KIND = PanelKind(
    "audit",
    "run",
    AUDITS,
    AUDIT_JUDGES,
    {"image": "image", "concept": "concept", "person": "person"},
)
STUDY_KIND = PanelKind(
    "study",
    "job",
    STUDIES,
    JUDGES,
    {"pair": "candidate", "person": "person", "question": "question"},
)

CLOSE_STUDY = Statement(
    "Take no more answers of a study.",
    """
MATCH (s:Study {id: $study}) SET s.closed_at = coalesce(s.closed_at, datetime())
RETURN s.id AS id""",
)

PAIRS = Statement(
    "A job's accepted edits whose files are kept, with what was asked for.",
    """
MATCH (c:Candidate {job: $job, verdict: 'accepted'})
WHERE c.uri IS NOT NULL AND c.source_uri IS NOT NULL
MATCH (q:JobQuery {id: c.query}) WHERE q.source_image IS NOT NULL
RETURN c.id AS candidate, c.uri AS uri, q.source_image AS original, c.source_uri AS original_uri,
  q.class_name AS asked, coalesce(q.own_group, '') AS own, coalesce(q.caption, '') AS caption
ORDER BY candidate""",
)
