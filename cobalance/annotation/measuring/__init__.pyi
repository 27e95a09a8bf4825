from . import scores as scores, shift as shift, truth as truth
from .matching import (
    TruthAttribute as TruthAttribute,
    match_concepts as match_concepts,
    match_images as match_images,
    plain as plain,
)
from .scores import (
    Macro as Macro,
    effective_dimension as effective_dimension,
    label_scores as label_scores,
    macro as macro,
    vocabulary_recall as vocabulary_recall,
)
from .truth import (
    GroundTruth as GroundTruth,
    read_mapping as read_mapping,
    read_truth as read_truth,
)
