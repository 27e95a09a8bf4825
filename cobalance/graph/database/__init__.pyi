from . import schema as schema, store as store
from .annotation_nodes import ANNOTATION_RUN as ANNOTATION_RUN, ATTRIBUTE as ATTRIBUTE
from .claim import Claim as Claim
from .declarations import (
    DATASET as DATASET,
    Edge as Edge,
    Node as Node,
    Property as Property,
    json_text as json_text,
    utc_time as utc_time,
)
from .driver_pool import DriverPool as DriverPool
from .evaluation_nodes import EVALUATION as EVALUATION, SCORE as SCORE, TASK as TASK
from .job_nodes import (
    CANDIDATE as CANDIDATE,
    JOB as JOB,
    JOB_COUNTERS as JOB_COUNTERS,
    JOB_QUERY as JOB_QUERY,
)
from .query import (
    REQUIRED as REQUIRED,
    Parameter as Parameter,
    Query as Query,
    Statement as Statement,
    describe_parameters as describe_parameters,
)
from .schema import (
    AUDIT_JUDGES as AUDIT_JUDGES,
    AUDITS as AUDITS,
    JUDGES as JUDGES,
    PLAN as PLAN,
    STUDIES as STUDIES,
)
from .store import GraphStore as GraphStore, Row as Row, unavailable_error as unavailable_error
