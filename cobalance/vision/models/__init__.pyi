from .checkpoints import (
    Checkpoint as Checkpoint,
    describe_error as describe_error,
    find_checkpoint as find_checkpoint,
    find_in_cache as find_in_cache,
)
from .classifiers import (
    Classifier as Classifier,
    ClassifierSettings as ClassifierSettings,
    Network as Network,
    open_backbone as open_backbone,
    open_classifier as open_classifier,
    width_of as width_of,
)
from .clip import (
    CLIP as CLIP,
    CLIP_REVISION as CLIP_REVISION,
    CLIPSCORE_WEIGHT as CLIPSCORE_WEIGHT,
    ClipModelOptions as ClipModelOptions,
    ImageTextClip as ImageTextClip,
    load_clip as load_clip,
    load_image_text_clip as load_image_text_clip,
)
from .conversation import Conversation as Conversation, open_conversation as open_conversation
from .detector import (
    BoxDetector as BoxDetector,
    Detections as Detections,
    Detector as Detector,
    clip_boxes as clip_boxes,
    open_detector as open_detector,
)
from .devices import (
    choose_device as choose_device,
    choose_dtype as choose_dtype,
    out_of_memory as out_of_memory,
)
from .loading import (
    check_tokenizer as check_tokenizer,
    load_model as load_model,
    load_processor as load_processor,
    quiet as quiet,
    software as software,
)
from .open_clip import from_open_clip as from_open_clip, load_open_clip as load_open_clip
from .options import (
    BlipItmOptions as BlipItmOptions,
    CaptionOptions as CaptionOptions,
    DetectorOptions as DetectorOptions,
    GroundingOptions as GroundingOptions,
    ModelOptions as ModelOptions,
    QueryOptions as QueryOptions,
    Siglip2Options as Siglip2Options,
    VlmOptions as VlmOptions,
)
from .prompts import (
    PHOTO as PHOTO,
    Template as Template,
    check_template as check_template,
    placeholders as placeholders,
    prompt_for as prompt_for,
)
from .vision import (
    VisionModel as VisionModel,
    embed_new as embed_new,
    encode_once as encode_once,
    load_vision as load_vision,
    open_vision as open_vision,
    unit_rows as unit_rows,
)
from .weight_files import MODEL_FILE as MODEL_FILE, PIPELINE_FILE as PIPELINE_FILE
from .weights import fill as fill, read_weights as read_weights, with_prefix as with_prefix
