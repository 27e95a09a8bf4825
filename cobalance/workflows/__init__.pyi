from . import (
    cells as cells,
    compare as compare,
    export as export,
    folders as folders,
    login_file as login_file,
    parquet as parquet,
    plugins as plugins,
    properties as properties,
    published as published,
    rebalance as rebalance,
    settings as settings,
    store as store,
)
from .backup.store_backup import Backup as Backup, back_up as back_up, restore as restore
from .cells import (
    cell_text as cell_text,
    change_text as change_text,
    change_texts as change_texts,
    class_pairs as class_pairs,
    count_texts as count_texts,
    duration_text as duration_text,
    is_interval as is_interval,
    is_missing as is_missing,
    json_text as json_text,
    log_odds_texts as log_odds_texts,
    q_text as q_text,
    signed_text as signed_text,
    to_csv as to_csv,
    to_json as to_json,
)
from .compare import (
    MOST_CLASSES as MOST_CLASSES,
    STATUS_MEANINGS as STATUS_MEANINGS,
    cluster_texts as cluster_texts,
    describe_comparison as describe_comparison,
    describe_outcome as describe_outcome,
    describe_splits as describe_splits,
    difference_texts as difference_texts,
    rates_of as rates_of,
    splits_table as splits_table,
)
from .concept_graph.colors import (
    CLASS_COLORS as CLASS_COLORS,
    NEUTRAL as NEUTRAL,
    class_colors as class_colors,
)
from .concept_graph.elements import (
    GraphEdge as GraphEdge,
    GraphNode as GraphNode,
    GraphPicture as GraphPicture,
    GraphStep as GraphStep,
)
from .concept_graph.overview import (
    ALL_OTHERS as ALL_OTHERS,
    Axis as Axis,
    concepts_of as concepts_of,
    descriptions as descriptions,
    label_widths_px as label_widths_px,
    lay_out_steps as lay_out_steps,
    node_id as node_id,
    of_overview as of_overview,
)
from .concept_graph.radial import grow_layout as grow_layout, radial_layout as radial_layout
from .concept_graph.skew_layout import (
    edge_widths_px as edge_widths_px,
    node_sizes_px as node_sizes_px,
)
from .demo.loading import ensure_demo as ensure_demo, ensure_digits as ensure_digits
from .demo.urbancars import NAME as NAME, urbancars as urbancars
from .diagnose.facets import (
    Facet as Facet,
    read_communities as read_communities,
    read_facets as read_facets,
)
from .diagnose.findings import (
    NO_COMMON_CONCEPT as NO_COMMON_CONCEPT,
    describe_disagreements as describe_disagreements,
    describe_lean as describe_lean,
    describe_leaning as describe_leaning,
    describe_order as describe_order,
    no_clique as no_clique,
    not_compared as not_compared,
)
from .diagnose.mine import mine as mine, warn_left_out as warn_left_out
from .diagnose.steps import StepState as StepState, next_action as next_action, steps_of as steps_of
from .diagnose.tables import (
    COOCCURRENCES as COOCCURRENCES,
    DISAGREEMENT as DISAGREEMENT,
    are_unequal as are_unequal,
    cooccurrence_table as cooccurrence_table,
    describe_compared as describe_compared,
    describe_mining as describe_mining,
    describe_summary as describe_summary,
    disagreement_texts as disagreement_texts,
    effect_texts as effect_texts,
    imbalance_table as imbalance_table,
    own_texts as own_texts,
    summary_table as summary_table,
)
from .embed.compute import (
    compute_embeddings as compute_embeddings,
    order_embeddings as order_embeddings,
)
from .embed.search import (
    Embedded as Embedded,
    add_embeddings as add_embeddings,
    cluster_duplicates as cluster_duplicates,
    collect_computed as collect_computed,
    computing_tasks as computing_tasks,
    find_across_splits as find_across_splits,
    keep_embeddings as keep_embeddings,
    read_embedded as read_embedded,
    require_embedded as require_embedded,
)
from .evaluate.artefacts import run_artefact_test as run_artefact_test
from .evaluate.failures import (
    accuracy_by_clique as accuracy_by_clique,
    accuracy_texts as accuracy_texts,
)
from .evaluate.maps import map_activations as map_activations
from .evaluate.order import (
    EvaluationOrder as EvaluationOrder,
    Ordered as Ordered,
    order_evaluations as order_evaluations,
)
from .evaluate.results import (
    HEADLINE as HEADLINE,
    differences_frame as differences_frame,
    export_bytes as export_bytes,
    name_rows as name_rows,
    newest as newest,
    scores_frame as scores_frame,
    summary_frame as summary_frame,
)
from .evaluate.score import score_tables as score_tables
from .evaluate.stored import (
    delete_evaluations as delete_evaluations,
    read_maps as read_maps,
    read_saved_predictions as read_saved_predictions,
)
from .evaluate.tables import (
    keep_scores as keep_scores,
    read_tables as read_tables,
    with_dataset as with_dataset,
)
from .evaluate.train import predict_dataset as predict_dataset
from .export import (
    WrittenExport as WrittenExport,
    delete_export as delete_export,
    export_job as export_job,
    find_export as find_export,
    folder_stem as folder_stem,
    write_export as write_export,
)
from .export_graph import FORMATS as FORMATS
from .export_graph.files import networkx_graph as networkx_graph, save_graph as save_graph
from .export_graph.tables import (
    LEAN as LEAN,
    GraphTables as GraphTables,
    class_counts as class_counts,
    dataset_incidence as dataset_incidence,
    graph_tables as graph_tables,
)
from .folders import Folders as Folders, read_dataset_places as read_dataset_places
from .gate.baseline import read_baseline as read_baseline, write_baseline as write_baseline
from .gate.formats import write_verdict as write_verdict
from .gate.rules import (
    check_rules as check_rules,
    read_rules as read_rules,
    write_rules as write_rules,
)
from .gate.stored import from_store as from_store
from .gate.subjects import from_annotations as from_annotations
from .gate.verdict import Verdict as Verdict, judge as judge, judge_split as judge_split
from .in_files.deciding import decide_columns as decide_columns
from .in_files.images import FileImages as FileImages
from .in_files.loading import open_files as open_files
from .label.compare import (
    GeneratorComparison as GeneratorComparison,
    compare_generator as compare_generator,
)
from .label.decide import (
    change_thresholds as change_thresholds,
    decide_labels as decide_labels,
    delete_annotations as delete_annotations,
    open_scores as open_scores,
)
from .label.extract import count_captions as count_captions, extract_concepts as extract_concepts
from .label.measure import (
    Measured as Measured,
    measure_run as measure_run,
    measure_vocabulary as measure_vocabulary,
    truth_of_dataset as truth_of_dataset,
)
from .label.order import (
    LabelOrder as LabelOrder,
    label_cost as label_cost,
    order_labels as order_labels,
)
from .label.propose import (
    ENDPOINT as ENDPOINT,
    ENDPOINT_HOW as ENDPOINT_HOW,
    LOCAL as LOCAL,
    available_models as available_models,
    open_embedder as open_embedder,
    open_model as open_model,
    propose_attributes as propose_attributes,
)
from .load.check import (
    CheckedImport as CheckedImport,
    ImportRequest as ImportRequest,
    ProofImage as ProofImage,
    check_import as check_import,
)
from .load.dataset import (
    default_dataset_name as default_dataset_name,
    describe_load as describe_load,
    drop_dataset as drop_dataset,
    load_dataset as load_dataset,
    rename_dataset as rename_dataset,
)
from .load.image_places import (
    AddedPlace as AddedPlace,
    add_place as add_place,
    added_places as added_places,
    find_images as find_images,
    missing_files as missing_files,
    offered_places as offered_places,
    places_with as places_with,
    remove_place as remove_place,
    roots_to_load as roots_to_load,
)
from .load.sources import (
    EVERYWHERE as EVERYWHERE,
    ServerFolder as ServerFolder,
    Source as Source,
    Uploads as Uploads,
    import_roots as import_roots,
    inside_any as inside_any,
    temporary_files as temporary_files,
)
from .login_file import (
    Login as Login,
    is_listed as is_listed,
    is_loopback as is_loopback,
    read_login as read_login,
)
from .order.job import (
    order_plan as order_plan,
    read_order as read_order,
    reorder_short as reorder_short,
    settings_to_reuse as settings_to_reuse,
)
from .order.settings import check_settings as check_settings, licence_warnings as licence_warnings
from .panel.answers import (
    Task as Task,
    answer_sheet as answer_sheet,
    answer_task as answer_task,
    panel_progress as panel_progress,
    person_tasks as person_tasks,
    take_answers as take_answers,
)
from .panel.audit import AuditSample as AuditSample, draw_audit as draw_audit
from .panel.study import Sample as Sample, draw_study as draw_study, results_frame as results_frame
from .panel.verdicts import (
    audit_imbalances as audit_imbalances,
    audit_rates as audit_rates,
    imbalance_verdicts as imbalance_verdicts,
    query_verdicts as query_verdicts,
    warn_unsupported as warn_unsupported,
)
from .parquet import to_parquet as to_parquet
from .plan.compare import CURVE as CURVE, budget_curve as budget_curve, compare_all as compare_all
from .plan.edits import (
    choose_counterfactuals as choose_counterfactuals,
    plan_counterfactual_dataset as plan_counterfactual_dataset,
)
from .plan.planners import (
    Planned as Planned,
    plan_dataset as plan_dataset,
    read_named as read_named,
    require_plannable as require_plannable,
)
from .plan.proof import (
    compare_datasets as compare_datasets,
    foretell as foretell,
    measure_bits as measure_bits,
)
from .plan.resample import (
    list_images as list_images,
    read_listed as read_listed,
    resample_dataset as resample_dataset,
)
from .plan.summaries import (
    COUNTS_ALONE as COUNTS_ALONE,
    bits_text as bits_text,
    count_contradicted as count_contradicted,
    describe_balance as describe_balance,
    describe_proof as describe_proof,
    describe_widened as describe_widened,
    describe_worse as describe_worse,
    no_images as no_images,
    plan_warnings as plan_warnings,
)
from .properties import (
    PROPERTIES as PROPERTIES,
    compare_classes as compare_classes,
    extreme_images as extreme_images,
    measure_properties as measure_properties,
    order_properties as order_properties,
    read_properties as read_properties,
    show_properties as show_properties,
)
from .published import (
    compare_dataset as compare_dataset,
    compare_published as compare_published,
    describe_published as describe_published,
)
from .rebalance import rebalance_job as rebalance_job
from .record.card import bias_sentences as bias_sentences, card_section as card_section
from .record.document import write_document as write_document
from .record.examination import Examination as Examination, examine_subject as examine_subject
from .record.reading import read_record as read_record
from .report.contents import ReportOptions as ReportOptions
from .report.page import write_report as write_report
from .report.plots import TICKS as TICKS, skews as skews
from .settings import (
    VARIABLES as VARIABLES,
    LogSettings as LogSettings,
    Settings as Settings,
    in_environment as in_environment,
)
from .store import Connection as Connection, connection as connection, open_store as open_store
from .work.benchmark import measure_worker as measure_worker
from .work.run import (
    gpu_numbers as gpu_numbers,
    run_here as run_here,
    run_on_gpus as run_on_gpus,
    run_worker as run_worker,
)
from .work.tables import (
    acceptance_texts as acceptance_texts,
    add_acceptance as add_acceptance,
    candidates_frame as candidates_frame,
    describe_pace as describe_pace,
    jobs_frame as jobs_frame,
)
