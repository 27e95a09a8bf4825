from .images.arrays import (
    ImageArray as ImageArray,
    MaskArray as MaskArray,
    PixelBox as PixelBox,
    find_box as find_box,
    sha256_of as sha256_of,
)
from .images.decoding import (
    IMAGE_ENDINGS as IMAGE_ENDINGS,
    Thumbnail as Thumbnail,
    decode as decode,
    is_turned as is_turned,
    open_image as open_image,
    png as png,
    read_header as read_header,
    read_orientation as read_orientation,
    rgb_array as rgb_array,
    thumbnail as thumbnail,
    upright_box as upright_box,
    within as within,
)
from .images.image_file import (
    MAX_BYTES as MAX_BYTES,
    ImageFile as ImageFile,
    ImageFileError as ImageFileError,
)
from .images.label_maps import (
    label_regions as label_regions,
    looks_drawn as looks_drawn,
    read_label_map as read_label_map,
)
from .images.mask_images import mask_array as mask_array
from .images.masks import (
    Polygons as Polygons,
    RunLengths as RunLengths,
    SegmentationError as SegmentationError,
    mask as mask,
    mask_box as mask_box,
    mask_region as mask_region,
    parse_segmentation as parse_segmentation,
)
from .images.outlines import (
    Point as Point,
    place_of as place_of,
    place_of_ellipse as place_of_ellipse,
    place_of_parts as place_of_parts,
    turn_box as turn_box,
)
from .images.properties import (
    FLAGS as FLAGS,
    NUMBERS as NUMBERS,
    TEXTS as TEXTS,
    image_properties as image_properties,
)
from .images.region_rows import SCHEMA as SCHEMA, region_files as region_files
from .images.regions import (
    read_regions as read_regions,
    regions_in as regions_in,
    write_regions as write_regions,
)
from .images.roots import ImageRoots as ImageRoots
from .images.uris import strip_secrets as strip_secrets
from .images.video_frames import VIDEO_ENDINGS as VIDEO_ENDINGS
from .models.checkpoints import (
    Checkpoint as Checkpoint,
    describe_error as describe_error,
    find_checkpoint as find_checkpoint,
    find_in_cache as find_in_cache,
)
from .models.classifiers import (
    Classifier as Classifier,
    ClassifierSettings as ClassifierSettings,
    Network as Network,
    open_backbone as open_backbone,
    open_classifier as open_classifier,
    width_of as width_of,
)
from .models.clip import (
    CLIP as CLIP,
    CLIP_REVISION as CLIP_REVISION,
    CLIPSCORE_WEIGHT as CLIPSCORE_WEIGHT,
    ClipModelOptions as ClipModelOptions,
    ImageTextClip as ImageTextClip,
    load_clip as load_clip,
    load_image_text_clip as load_image_text_clip,
)
from .models.conversation import (
    Conversation as Conversation,
    open_conversation as open_conversation,
)
from .models.detector import (
    BoxDetector as BoxDetector,
    Detections as Detections,
    Detector as Detector,
    clip_boxes as clip_boxes,
    open_detector as open_detector,
)
from .models.devices import (
    choose_device as choose_device,
    choose_dtype as choose_dtype,
    gpu_memory_gb as gpu_memory_gb,
    out_of_memory as out_of_memory,
)
from .models.loading import (
    check_tokenizer as check_tokenizer,
    load_model as load_model,
    load_processor as load_processor,
    quiet as quiet,
    software as software,
)
from .models.open_clip import from_open_clip as from_open_clip, load_open_clip as load_open_clip
from .models.options import (
    BlipItmOptions as BlipItmOptions,
    CaptionOptions as CaptionOptions,
    DetectorOptions as DetectorOptions,
    GroundingOptions as GroundingOptions,
    ModelOptions as ModelOptions,
    QueryOptions as QueryOptions,
    Siglip2Options as Siglip2Options,
    VlmOptions as VlmOptions,
)
from .models.prompts import (
    PHOTO as PHOTO,
    Template as Template,
    check_template as check_template,
    placeholders as placeholders,
    prompt_for as prompt_for,
)
from .models.vision import (
    VisionModel as VisionModel,
    embed_new as embed_new,
    encode_once as encode_once,
    load_vision as load_vision,
    open_vision as open_vision,
    unit_rows as unit_rows,
)
from .models.weight_files import MODEL_FILE as MODEL_FILE, PIPELINE_FILE as PIPELINE_FILE
from .models.weights import fill as fill, read_weights as read_weights, with_prefix as with_prefix
from .stored.dataset_files import DatasetFiles as DatasetFiles
from .stored.sorted_parquet import read_rows as read_rows, write_sorted as write_sorted
