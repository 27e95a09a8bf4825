from . import reading as reading, statements as statements, writing as writing
from .reading import (
    Evaluation as Evaluation,
    count_synthetic as count_synthetic,
    list_evaluations as list_evaluations,
    name_settings as name_settings,
    origin_of as origin_of,
    read_evaluation as read_evaluation,
    read_scores as read_scores,
)
from .writing import (
    KIND as KIND,
    NewEvaluation as NewEvaluation,
    begin_evaluation as begin_evaluation,
    create_evaluations as create_evaluations,
    delete_evaluation as delete_evaluation,
    save_predictions_uri as save_predictions_uri,
    save_scores as save_scores,
)
