from . import annotators as annotators
from .annotators import ANNOTATORS as ANNOTATORS
from .annotators.annotator import Annotator as Annotator, Scores as Scores
from .annotators.linear_probe import fit_linear_probe as fit_linear_probe
from .auditing.consensus import (
    ANSWERS as ANSWERS,
    DOES_NOT as DOES_NOT,
    SHOWS as SHOWS,
    UNKNOWN as UNKNOWN,
    select_agreed as select_agreed,
)
from .auditing.correction import corrected_counts as corrected_counts, rates as rates
from .auditing.defaults import PER_STRATUM as PER_STRATUM
from .auditing.imbalance import (
    Verdict as Verdict,
    clique_verdicts as clique_verdicts,
    corrected_imbalances as corrected_imbalances,
)
from .auditing.sample import assign_people as assign_people, draw_labels as draw_labels
from .labelling.labels import (
    Example as Example,
    examples as examples,
    label_summary as label_summary,
    present as present,
    read_labels as read_labels,
)
from .labelling.remote import check_remote as check_remote, open_remote as open_remote
from .labelling.settings import (
    LabelledAttribute as LabelledAttribute,
    LabelSettings as LabelSettings,
    Rule as Rule,
)
from .language.chat import (
    ChatModel as ChatModel,
    Question as Question,
    Reply as Reply,
    in_order as in_order,
    select_told as select_told,
)
from .language.endpoint import Endpoint as Endpoint
from .language.endpoint_settings import EndpointSettings as EndpointSettings, read_key as read_key
from .language.local import LocalModel as LocalModel, LocalOptions as LocalOptions
from .language.transcript import Transcript as Transcript, Usage as Usage
from .measuring.matching import (
    TruthAttribute as TruthAttribute,
    match_concepts as match_concepts,
    match_images as match_images,
    plain as plain,
)
from .measuring.scores import (
    Macro as Macro,
    effective_dimension as effective_dimension,
    label_scores as label_scores,
    macro as macro,
    vocabulary_recall as vocabulary_recall,
)
from .measuring.truth import (
    GroundTruth as GroundTruth,
    read_mapping as read_mapping,
    read_truth as read_truth,
)
from .proposing.attribute_flags import (
    PERCEIVED as PERCEIVED,
    UNSEEN as UNSEEN,
    Embed as Embed,
    flag_attributes as flag_attributes,
    is_sensitive as is_sensitive,
    names_sensitive_trait as names_sensitive_trait,
    ngram_vectors as ngram_vectors,
)
from .proposing.cost import chat_cost as chat_cost, measure_seconds as measure_seconds
from .proposing.extract import (
    QUESTION as QUESTION,
    Extracted as Extracted,
    singular_names as singular_names,
)
from .proposing.options import (
    ProposeOptions as ProposeOptions,
    preset_names as preset_names,
    read_preset as read_preset,
)
