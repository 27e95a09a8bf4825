from .arrays import (
    ImageArray as ImageArray,
    MaskArray as MaskArray,
    find_box as find_box,
    sha256_of as sha256_of,
)
from .decoding import (
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
from .image_file import (
    MAX_BYTES as MAX_BYTES,
    ImageFile as ImageFile,
    ImageFileError as ImageFileError,
)
from .label_maps import (
    label_regions as label_regions,
    looks_drawn as looks_drawn,
    read_label_map as read_label_map,
)
from .mask_images import mask_array as mask_array
from .masks import (
    Polygons as Polygons,
    RunLengths as RunLengths,
    SegmentationError as SegmentationError,
    mask as mask,
    mask_box as mask_box,
    mask_region as mask_region,
    parse_segmentation as parse_segmentation,
)
from .outlines import (
    Point as Point,
    place_of as place_of,
    place_of_ellipse as place_of_ellipse,
    place_of_parts as place_of_parts,
    turn_box as turn_box,
)
from .properties import (
    FLAGS as FLAGS,
    NUMBERS as NUMBERS,
    TEXTS as TEXTS,
    image_properties as image_properties,
)
from .region_rows import SCHEMA as SCHEMA, region_files as region_files
from .regions import (
    read_regions as read_regions,
    regions_in as regions_in,
    write_regions as write_regions,
)
from .roots import ImageRoots as ImageRoots
from .uris import strip_secrets as strip_secrets
from .video_frames import VIDEO_ENDINGS as VIDEO_ENDINGS
