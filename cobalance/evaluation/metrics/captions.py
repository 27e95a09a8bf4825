"""Caption quality: CLIPScore, and METEOR where its package is installed."""

import shutil
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import CobalanceError, DataError, Options, needs_extra, read_options
from cobalance.evaluation.metrics.bias.markedness import unit_pair
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import Score, captions_by_image, mean_score, score_rows
from cobalance.evaluation.predictions import known_rows
from cobalance.vision import CLIPSCORE_WEIGHT, ClipModelOptions, ImageArray, load_image_text_clip

PREFIX = "A photo depicts "
"""What the authors of CLIPScore put before captions."""
BATCH = 64


class CaptionClipOptions(ClipModelOptions):
    """Options of the CLIP that scores captions.

    Parameters
    ----------
    prefix : str
        Put before each caption.
    """

    prefix: str = PREFIX


def clip_score(cosines: npt.ArrayLike) -> pd.DataFrame:
    """Return the mean CLIPScore of captions, 2.5·max(cosine, 0), with its interval.

    Parameters
    ----------
    cosines : array, shape (n_captions,)
        Between CLIP's embeddings of each caption and its image; the caption with `PREFIX` before
        it (Hessel et al., *CLIPScore*, EMNLP 2021, section 3).

    Raises
    ------
    DataError
        A cosine is NaN, or not between -1 and 1.

    Examples
    --------
    >>> float(clip_score([0.3, -0.1])["value"].item())
    0.375
    """
    values = np.asarray(cosines, dtype=np.float64)
    is_wrong = ~(np.abs(values) <= 1 + 1e-6)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise DataError(f"cosines[{row}] is {values[row]}; give values from -1 to 1.")
    return score_rows([mean_score("clip_score", CLIPSCORE_WEIGHT * np.maximum(values, 0))])


def caption_cosines(
    captions: pd.DataFrame,
    read: Callable[[str], ImageArray],
    options: Mapping[str, Any] | None = None,
) -> npt.NDArray[np.float64]:
    """Return the cosine of each caption and its image, by CLIP.

    Parameters
    ----------
    captions : frame
        ``image`` and ``caption``.
    read : callable
        Takes the id of an image and returns its pixels.
    options : mapping, optional
        Of `CaptionClipOptions`: ``model``, ``device`` and the like.

    Returns
    -------
    float64 array, shape (n_captions,)
        For `clip_score`.

    Raises
    ------
    MissingExtraError
        torch or transformers is not installed.
    JobBlockedError
        The model is missing or of the wrong kind.
    """
    checked = read_options(CaptionClipOptions, options or {}, "CLIPScore")
    with needs_extra("CLIP", "models"):
        clip = load_image_text_clip(checked)

    texts = [checked.prefix + str(caption) for caption in captions["caption"]]
    images = list(map(str, captions["image"]))
    cosines = [np.empty(0)]
    for start in range(0, len(texts), BATCH):
        rows = slice(start, start + BATCH)
        with clip.vision.computing(f"CLIP on {len(images[rows])} captions"):
            cosines.append(clip.cosines(list(map(read, images[rows])), texts[rows]))
    return np.concatenate(cosines)


def meteor(captions: pd.DataFrame, references: pd.DataFrame) -> pd.DataFrame:
    """Return METEOR 1.5 of generated captions against those by people, as COCO's evaluation has it.

    Parameters
    ----------
    captions, references : frame
        ``image`` and ``caption``; of several generated for an image, the first counts.

    Returns
    -------
    frame of scores
        ``meteor``, of all images together as papers report it, and ``meteor_mean``, the mean over
        images, with its interval. Images without references are left out.

    Raises
    ------
    CobalanceError
        The package pycocoevalcap is not installed, or there is no Java.
    """
    generated = captions_by_image(captions, "captions")
    by_people = captions_by_image(references)
    images = [image for image in generated if image in by_people]
    if not images:
        raise DataError("No image has a caption and a reference. Give both of the same images.")

    try:
        from pycocoevalcap.meteor.meteor import Meteor
        from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
    except ModuleNotFoundError as error:
        raise CobalanceError(
            "METEOR needs the package pycocoevalcap, which cobalance does not install: pip install "
            "pycocoevalcap, and Java on the PATH."
        ) from error
    if shutil.which("java") is None:
        raise CobalanceError("METEOR is a Java program, and there is no java on the PATH.")

    # COCO's evaluation takes one generated caption an image, and all those by people.
    candidates, truth = {}, {}
    for image in images:
        candidates[image] = [{"caption": generated[image][0]}]
        truth[image] = [{"caption": caption} for caption in by_people[image]]
    tokenizer = PTBTokenizer()
    corpus_score, scores = Meteor().compute_score(
        tokenizer.tokenize(truth), tokenizer.tokenize(candidates)
    )
    return score_rows(
        [
            Score("meteor", value=corpus_score, n=len(images)),
            mean_score("meteor_mean", scores),
        ]
    )


def _clip_score(inputs: Inputs, _: Options) -> pd.DataFrame:
    rows = known_rows(inputs.ids_of("texts"), inputs.ids_of("embeddings"), "texts", "embeddings")
    text_units, image_units = unit_pair(
        texts=inputs.vectors("texts"), embeddings=inputs.vectors("embeddings")
    )
    return clip_score(np.vecdot(text_units, image_units[rows]))


PLUGINS = (
    MetricPlugin(
        "clip_score",
        "CLIPScore of captions, from CLIP's embeddings of captions (texts) and images.",
        takes=("texts", "embeddings"),
        compute=_clip_score,
    ),
    MetricPlugin(
        "meteor",
        "METEOR of generated captions against those by people; needs pycocoevalcap and Java.",
        takes=("captions", "references"),
        compute=lambda inputs, _: meteor(inputs.need("captions"), inputs.need("references")),
    ),
)
