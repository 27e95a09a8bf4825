from . import answers as answers, audit as audit, study as study, verdicts as verdicts
from .answers import answer_sheet as answer_sheet, take_answers as take_answers
from .audit import AuditSample as AuditSample, draw_audit as draw_audit
from .verdicts import (
    audit_imbalances as audit_imbalances,
    is_supported as is_supported,
    query_verdicts as query_verdicts,
    read_corrections as read_corrections,
)
