from . import attributes as attributes, runs as runs
from .attributes import (
    AttributeKey as AttributeKey,
    Decision as Decision,
    Level as Level,
    ProposedAttribute as ProposedAttribute,
    decide_attributes as decide_attributes,
    link_concepts as link_concepts,
    list_attributes as list_attributes,
    save_attributes as save_attributes,
    write_flags as write_flags,
)
from .found import (
    apply_runs as apply_runs,
    source_of as source_of,
    still_labelled as still_labelled,
)
from .runs import (
    TASK_KIND as TASK_KIND,
    AnnotationRun as AnnotationRun,
    NewRun as NewRun,
    cancel_run as cancel_run,
    change_settings as change_settings,
    create_run as create_run,
    describe_run as describe_run,
    end_run as end_run,
    has_accepted as has_accepted,
    list_runs as list_runs,
    read_labelling as read_labelling,
    read_run as read_run,
    retry_run as retry_run,
)
