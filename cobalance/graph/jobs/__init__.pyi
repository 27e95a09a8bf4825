from . import lifecycle as lifecycle, reports as reports, status as status
from .candidate_pages import (
    MOST_CANDIDATES as MOST_CANDIDATES,
    Candidate as Candidate,
    CandidatePage as CandidatePage,
    EditedGroup as EditedGroup,
    EditedImage as EditedImage,
    count_decided as count_decided,
    count_edited as count_edited,
    count_reviewed as count_reviewed,
    find_edited as find_edited,
    list_candidates as list_candidates,
    read_edited as read_edited,
    read_provenance as read_provenance,
)
from .candidates import (
    NewCandidate as NewCandidate,
    QueryDecisions as QueryDecisions,
    decide as decide,
    fingerprints as fingerprints,
    read_decisions as read_decisions,
    read_verdicts as read_verdicts,
    record_made as record_made,
    reject_made as reject_made,
    restore_decisions as restore_decisions,
)
from .lifecycle import (
    QUERY_STATES as QUERY_STATES,
    CandidateState as CandidateState,
    QueryState as QueryState,
    Verdict as Verdict,
    cancel_job as cancel_job,
    create_job as create_job,
    query_id as query_id,
    retry_job as retry_job,
)
from .reads import ALIVE as ALIVE, works_for as works_for
from .rebalance import (
    AcceptedImage as AcceptedImage,
    generated_id as generated_id,
    read_accepted as read_accepted,
    read_changed as read_changed,
    read_counterfactuals as read_counterfactuals,
    read_sources as read_sources,
    write_rebalanced as write_rebalanced,
)
from .reports import (
    ALIVE_S as ALIVE_S,
    Worker as Worker,
    end_job as end_job,
    fail_job as fail_job,
    fail_queries as fail_queries,
    finish_queries as finish_queries,
    heartbeat as heartbeat,
    start_queries as start_queries,
    stop_worker as stop_worker,
    workers_alive as workers_alive,
)
from .rounds import (
    QueryProgress as QueryProgress,
    Round as Round,
    Span as Span,
    active_jobs as active_jobs,
    begin_round as begin_round,
    find_shared_reasons as find_shared_reasons,
    missing_numbers as missing_numbers,
    read_query_progress as read_query_progress,
    read_round as read_round,
)
from .settlement import (
    MadeCandidate as MadeCandidate,
    RankedCandidate as RankedCandidate,
    Settlement as Settlement,
    judge_made as judge_made,
    read_kept as read_kept,
    read_made as read_made,
    settle_queries as settle_queries,
)
from .status import (
    Job as Job,
    list_jobs as list_jobs,
    read_job as read_job,
    read_queries as read_queries,
    read_speeds as read_speeds,
    waits_for as waits_for,
)
