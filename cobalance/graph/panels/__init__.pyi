from . import audits as audits, panel as panel, studies as studies
from .audits import (
    CLIQUES as CLIQUES,
    COUNTS as COUNTS,
    Audit as Audit,
    clique_name as clique_name,
    create_audit as create_audit,
)
from .panel import (
    Panel as Panel,
    list_panels as list_panels,
    read_answers as read_answers,
    read_panel as read_panel,
    save_answers as save_answers,
)
from .studies import (
    Assignment as Assignment,
    Study as Study,
    StudyPair as StudyPair,
    close_study as close_study,
    create_study as create_study,
    read_pairs as read_pairs,
)
