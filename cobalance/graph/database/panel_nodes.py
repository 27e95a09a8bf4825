"""The nodes of audits and human studies, and of the answers that people give."""

from datetime import datetime

from cobalance.graph.database.declarations import CREATED, Json, Node, Property

STUDY = Node(
    "Study",
    "A blind sample of a job's edited images, judged by people beside their originals",
    Property("id"),
    Property("job"),
    Property("groups", list[str], "that people choose from"),
    Property("people", list[str], "who judges"),
    Property("pairs", Json, "what is judged: candidates and originals, as they were drawn"),
    Property("tasks", Json, "who judges which pair, in which order, and the original's side"),
    Property("settings", Json, "what the sample was drawn with"),
    *CREATED,
    Property("closed_at", datetime, "after which no answer is taken"),
    Property("updated_at", datetime, "written to take the lock of a write"),
    indexed=(("job",),),
    scope="store",
)
STUDY_ANSWER = Node(
    "StudyAnswer",
    "What a person answers to a question about a pair",
    Property("key", list[str], "study, candidate, person and question"),
    Property("study"),
    Property("candidate", str, "the pair's edited image"),
    Property("person"),
    Property("question"),
    Property("answer"),
    Property("answered_at", datetime, "for the last time"),
    indexed=(("study",),),
    scope="store",
)
AUDIT = Node(
    "Audit",
    "A sample of a run's labels that people check, blind to them",
    Property("id"),
    Property("run"),
    Property("people", list[str], "who checks"),
    Property("concepts", list[str], "whose labels are checked"),
    Property("labels", Json, "what is checked: images with class, concept and verdict"),
    Property("tasks", Json, "who checks which label, in which order"),
    Property("counts", Json, "labelled and other images of each concept and class"),
    Property("settings", Json, "what the sample was drawn with"),
    *CREATED,
    Property("updated_at", datetime, "written to take the lock of a write"),
    indexed=(("run",),),
    scope="store",
)
AUDIT_ANSWER = Node(
    "AuditAnswer",
    "Whether a person sees a concept in an image",
    Property("key", list[str], "audit, image, concept and person"),
    Property("audit"),
    Property("image"),
    Property("concept"),
    Property("person"),
    Property("answer", str, "shows, does not or unknown"),
    Property("answered_at", datetime, "for the last time"),
    indexed=(("audit",),),
    scope="store",
)
