from .annotations.attributes import (
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
from .annotations.found import (
    apply_runs as apply_runs,
    source_of as source_of,
    still_labelled as still_labelled,
)
from .annotations.runs import (
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
from .console.completions import editor_words as editor_words
from .console.run import EXAMPLE as EXAMPLE, ConsoleResult as ConsoleResult
from .console.values import (
    NodeValue as NodeValue,
    PathValue as PathValue,
    RelationshipValue as RelationshipValue,
)
from .database.annotation_nodes import ANNOTATION_RUN as ANNOTATION_RUN
from .database.declarations import DATASET as DATASET, Node as Node, json_text as json_text
from .database.evaluation_nodes import EVALUATION as EVALUATION, TASK as TASK
from .database.job_nodes import JOB as JOB
from .database.local.home import USERNAME as USERNAME, Home as Home, write_private as write_private
from .database.local.server_control import Endpoint as Endpoint
from .database.local.settings import LocalServerSettings as LocalServerSettings
from .database.query import (
    REQUIRED as REQUIRED,
    Parameter as Parameter,
    Query as Query,
    Statement as Statement,
)
from .database.schema import CONCEPT as CONCEPT
from .database.store import GraphStore as GraphStore, encryption as encryption
from .dataset.backup import (
    NODES as NODES,
    PARTS as PARTS,
    Part as Part,
    Restoration as Restoration,
    Rows as Rows,
    read_cut as read_cut,
)
from .dataset.cliques import (
    CliqueTotals as CliqueTotals,
    clique_totals as clique_totals,
    comparison_of as comparison_of,
    load_cliques as load_cliques,
    mining_of as mining_of,
    read_cliques as read_cliques,
    read_mining_options as read_mining_options,
    require_size as require_size,
)
from .dataset.incidence_table import (
    SplitIncidence as SplitIncidence,
    split_incidence as split_incidence,
)
from .dataset.limits import MAX_CLIQUES as MAX_CLIQUES, PER_CLASS as PER_CLASS
from .dataset.mentions import replace_mentions as replace_mentions
from .dataset.mining import (
    Counted as Counted,
    CountedImages as CountedImages,
    HeldImages as HeldImages,
    MiningReport as MiningReport,
    mine_dataset as mine_dataset,
    mine_images as mine_images,
)
from .dataset.names import (
    class_sizes as class_sizes,
    read_names as read_names,
    split_sizes as split_sizes,
    splits_of as splits_of,
)
from .dataset.plans import (
    read_plan as read_plan,
    read_plan_options as read_plan_options,
    write_plan as write_plan,
)
from .dataset.read import (
    ClassImages as ClassImages,
    load_images as load_images,
    load_incidence as load_incidence,
    load_named_images as load_named_images,
    read_annotations as read_annotations,
    read_class_images as read_class_images,
    read_classes as read_classes,
    read_clusters as read_clusters,
    read_generated_ids as read_generated_ids,
    read_image_concepts as read_image_concepts,
    read_image_files as read_image_files,
    read_left_out as read_left_out,
)
from .dataset.sampled import (
    ImageTotals as ImageTotals,
    choose_sample as choose_sample,
    dry_run_sampled as dry_run_sampled,
    write_sampled as write_sampled,
    write_totals as write_totals,
)
from .dataset.state import (
    DatasetState as DatasetState,
    Sample as Sample,
    check_name as check_name,
    dataset_state as dataset_state,
    find_dataset as find_dataset,
    list_datasets as list_datasets,
)
from .dataset.write import (
    IfExists as IfExists,
    IngestReport as IngestReport,
    dry_run as dry_run,
    make_dataset as make_dataset,
    without_own_tags as without_own_tags,
    write_annotations as write_annotations,
    write_changes as write_changes,
)
from .evaluations.reading import (
    Evaluation as Evaluation,
    count_synthetic as count_synthetic,
    list_evaluations as list_evaluations,
    name_settings as name_settings,
    origin_of as origin_of,
    read_evaluation as read_evaluation,
    read_scores as read_scores,
)
from .evaluations.writing import (
    KIND as KIND,
    NewEvaluation as NewEvaluation,
    begin_evaluation as begin_evaluation,
    create_evaluations as create_evaluations,
    delete_evaluation as delete_evaluation,
    save_predictions_uri as save_predictions_uri,
    save_scores as save_scores,
)
from .jobs.acceptance import (
    Rejections as Rejections,
    read_rejections as read_rejections,
    reject_surplus as reject_surplus,
)
from .jobs.candidate_pages import (
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
from .jobs.candidates import (
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
from .jobs.lifecycle import (
    QUERY_STATES as QUERY_STATES,
    CandidateState as CandidateState,
    QueryState as QueryState,
    Verdict as Verdict,
    cancel_job as cancel_job,
    create_job as create_job,
    drop_short as drop_short,
    query_id as query_id,
    retry_job as retry_job,
)
from .jobs.rebalance import (
    AcceptedImage as AcceptedImage,
    generated_id as generated_id,
    read_accepted as read_accepted,
    read_changed as read_changed,
    read_counterfactuals as read_counterfactuals,
    read_sources as read_sources,
    write_rebalanced as write_rebalanced,
)
from .jobs.reports import (
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
from .jobs.rounds import (
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
from .jobs.settlement import (
    MadeCandidate as MadeCandidate,
    RankedCandidate as RankedCandidate,
    Settlement as Settlement,
    judge_made as judge_made,
    read_kept as read_kept,
    read_made as read_made,
    settle_queries as settle_queries,
)
from .jobs.spending import release_image as release_image, reserve_image as reserve_image
from .jobs.status import (
    Job as Job,
    list_jobs as list_jobs,
    read_job as read_job,
    read_queries as read_queries,
    read_speeds as read_speeds,
)
from .panels.audits import (
    CLIQUES as CLIQUES,
    COUNTS as COUNTS,
    Audit as Audit,
    clique_name as clique_name,
    create_audit as create_audit,
)
from .panels.panel import (
    Panel as Panel,
    list_panels as list_panels,
    read_answers as read_answers,
    read_panel as read_panel,
    save_answers as save_answers,
)
from .panels.studies import (
    Assignment as Assignment,
    Study as Study,
    StudyPair as StudyPair,
    close_study as close_study,
    create_study as create_study,
    read_pairs as read_pairs,
)
from .queries.binding import bind_named as bind_named, read_saved as read_saved
from .queries.catalogue import CATALOGUE as CATALOGUE
from .queries.catalogue.recounts import MAX_SIZE as MAX_SIZE
from .queries.clique_images import (
    count_in_images as count_in_images,
    list_image_concepts as list_image_concepts,
    read_clique_images as read_clique_images,
    read_image_page as read_image_page,
)
from .queries.comparison import (
    COUNT_PLANNERS as COUNT_PLANNERS,
    compare_dataset_splits as compare_dataset_splits,
    compare_imbalances as compare_imbalances,
    read_asked as read_asked,
    read_copies as read_copies,
    usual_measure as usual_measure,
)
from .queries.concept_counts import CountedDataset as CountedDataset, class_counts as class_counts
from .queries.console_query import (
    MAX_EXACT as MAX_EXACT,
    ConsoleQuery as ConsoleQuery,
    answer_frame as answer_frame,
    names_in as names_in,
    result_frame as result_frame,
    saved_queries as saved_queries,
    search_saved as search_saved,
)
from .queries.contrasts import Contrasts as Contrasts, read_contrasts as read_contrasts
from .queries.cooccurrences import (
    read_clustered_images as read_clustered_images,
    read_cooccurrences as read_cooccurrences,
)
from .queries.imbalances import (
    Ranking as Ranking,
    filter_imbalances as filter_imbalances,
    leaning_concepts as leaning_concepts,
    read_folded_imbalances as read_folded_imbalances,
    read_imbalances as read_imbalances,
)
from .queries.neighbourhood import (
    Kind as Kind,
    Link as Link,
    Neighbourhood as Neighbourhood,
    read_neighbourhood as read_neighbourhood,
    shortest_link as shortest_link,
    to_graphml as to_graphml,
)
from .queries.nodes import (
    NodeDetails as NodeDetails,
    name_of as name_of,
    read_named as read_named,
    read_node as read_node,
)
from .queries.overview import Overview as Overview, read_overview as read_overview
from .queries.own_effects import (
    read_own_effects as read_own_effects,
    read_standing as read_standing,
    read_summary as read_summary,
)
from .queries.progress import (
    DatasetProgress as DatasetProgress,
    dataset_progress as dataset_progress,
)
from .queries.statements import NAMES as NAMES
from .queries.steps import (
    Images as Images,
    Step as Step,
    StepId as StepId,
    read_steps as read_steps,
    with_images as with_images,
)
from .tags.applying import (
    TagChanges as TagChanges,
    apply_tags as apply_tags,
    find_left_out as find_left_out,
    pending_tags as pending_tags,
)
from .tags.roles import TagRole as TagRole
from .tags.saved_views import (
    delete_view as delete_view,
    list_views as list_views,
    rename_view as rename_view,
    save_view as save_view,
)
from .tags.tags import (
    delete_tag as delete_tag,
    images_of_tag as images_of_tag,
    list_notes as list_notes,
    list_tags as list_tags,
    marks_of_images as marks_of_images,
    set_role as set_role,
    tag_images as tag_images,
    untag_images as untag_images,
    write_note as write_note,
)
from .tasks.lifecycle import (
    ActiveTask as ActiveTask,
    StartedTask as StartedTask,
    Task as Task,
    active_tasks as active_tasks,
    cancel_task as cancel_task,
    create_task as create_task,
    end_task as end_task,
    fail_task as fail_task,
    list_tasks as list_tasks,
    read_task as read_task,
    release_task as release_task,
    report_task as report_task,
    retry_task as retry_task,
    start_task as start_task,
)
from .tasks.monitoring import GAUGES as GAUGES
