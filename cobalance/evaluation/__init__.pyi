from . import metrics as metrics, reports as reports
from .differences import mean_and_sd as mean_and_sd
from .groups import align_groups as align_groups, group_rows as group_rows
from .metrics import METRICS as METRICS, TABLES as TABLES
from .metrics.attributes import COUNTS as COUNTS, shift_table as shift_table
from .metrics.bias.lic import group_words as group_words, match_words as match_words
from .metrics.captions import caption_cosines as caption_cosines, clip_score as clip_score
from .metrics.comparison import compare_methods as compare_methods
from .metrics.images.cam_energy import cam_energy as cam_energy
from .metrics.images.clusters import (
    SOURCE as SOURCE,
    caption_clusters as caption_clusters,
    cluster_captions as cluster_captions,
    cluster_names as cluster_names,
    salient_words as salient_words,
)
from .metrics.metric import (
    COLUMNS as COLUMNS,
    ImageSet as ImageSet,
    Inputs as Inputs,
    Scored as Scored,
    score_fitting as score_fitting,
    score_metrics as score_metrics,
    stack as stack,
)
from .predictions import (
    check_predictions as check_predictions,
    class_columns as class_columns,
    known_rows as known_rows,
    read_predictions as read_predictions,
    runs as runs,
)
from .reports import (
    REPORTS as REPORTS,
    RUN as RUN,
    SCORE as SCORE,
    arrange as arrange,
    mean_text as mean_text,
)
from .shortcuts import COMMON as COMMON, Shortcuts as Shortcuts, shortcut_groups as shortcut_groups
from .study.agreement import study_results as study_results
from .study.questions import blind_sentence as blind_sentence, tasks_of as tasks_of
from .study.sample import draw_pairs as draw_pairs
from .table_files import refuse_cells as refuse_cells
from .training.data.examples import code_examples as code_examples
from .training.data.images import LabelledImages as LabelledImages
from .training.data.reading import (
    TABLE as TABLE,
    read_export_images as read_export_images,
    read_folder_images as read_folder_images,
)
from .training.data.registry import SETS as SETS
from .training.examples import Examples as Examples, IntArray as IntArray, Pixels as Pixels
from .training.features import FEATURES as FEATURES, USUAL as USUAL
from .training.features.features import Features as Features
from .training.features.vision import VisionFeatures as VisionFeatures
from .training.learners import LEARNERS as LEARNERS
from .training.method import Run as Run
from .training.methods import METHODS as METHODS
from .training.model import Captioner as Captioner, Model as Model, TextModel as TextModel
from .training.networks.cam import grad_cam as grad_cam
from .training.networks.model import NetworkModel as NetworkModel
from .training.presets import PRESETS as PRESETS, Preset as Preset
from .training.profiling import profile_folder as profile_folder, profile_groups as profile_groups
from .training.texts import TEXT_FEATURES as TEXT_FEATURES
from .training.tuning.clip import open_clip as open_clip
