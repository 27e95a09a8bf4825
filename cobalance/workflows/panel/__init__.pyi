from . import answers as answers, audit as audit, study as study, verdicts as verdicts
from .answers import (
    Task as Task,
    answer_sheet as answer_sheet,
    answer_task as answer_task,
    panel_progress as panel_progress,
    person_tasks as person_tasks,
    take_answers as take_answers,
)
from .audit import AuditSample as AuditSample, draw_audit as draw_audit
from .study import Sample as Sample, draw_study as draw_study, results_frame as results_frame
from .verdicts import (
    audit_imbalances as audit_imbalances,
    audit_rates as audit_rates,
    imbalance_verdicts as imbalance_verdicts,
    is_supported as is_supported,
    query_verdicts as query_verdicts,
    read_corrections as read_corrections,
    warn_unsupported as warn_unsupported,
)
