"""Score what CLIP and captioners do beside predicting classes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.captions import caption_cosines, clip_score
from cobalance.evaluation.metrics.metric import COLUMNS, Inputs, Scored, stack
from cobalance.evaluation.training.examples import Examples, Pixels
from cobalance.evaluation.training.model import TextModel
from cobalance.graph.errors import CobalanceError
from cobalance.ingest.concepts.word_lists import load_group_words


def score_captions(predictions: pd.DataFrame, test: Examples, options: Any) -> Scored:
    """Score a captioner's captions: the test images' own are the references, classes the groups.

    Parameters
    ----------
    options : CaptionerOptions
        ``scorer`` names the CLIP of CLIPScore. The ratio is of the two groups of ``words``, also
        where captions name one of them alone; where the list has more, of the two that they name.
    """
    pairs = zip(test.ids, test.captions, strict=False)
    people = [(image, caption) for image, some in pairs for caption in some]
    inputs = Inputs(
        predictions,
        captions=predictions,
        references=pd.DataFrame(people, columns=["image", "caption"]) if people else None,
        groups=pd.DataFrame({"image": list(test.ids), "class": _classes(test)}),
    )
    tables = {"ratio": _ratio_inputs(predictions, options.words), "lic": inputs, "meteor": inputs}
    scored = joined(
        *(
            _attempt(name, partial(METRICS.open(name), table))
            for name, table in tables.items()
            if METRICS[name].fits(table)
        )
    )
    if not options.scorer:
        return scored
    rows = {image: row for row, image in enumerate(test.ids)}

    def read(image: str) -> Pixels:
        return test.read(np.array([rows[image]]))[0]

    clip = {"model": options.scorer, "device": options.device, "offline": options.offline}
    return joined(
        scored,
        _attempt("clip_score", lambda: clip_score(caption_cosines(predictions, read, clip))),
    )


def score_clip(model: TextModel, test: Examples, options: Any) -> Scored:
    """Score a CLIP by the test images' classes as groups, and on the folder that its options name.

    Parameters
    ----------
    options : ClipTuningOptions
        ``folder`` names the labelled folder.
    """
    from cobalance.evaluation.training.profiling import profile_folder, profile_groups

    scored = _attempt("self_similarity", lambda: profile_groups(model, test, _classes(test)))
    if not options.folder:
        return scored
    folder = Path(options.folder)
    return joined(scored, _attempt("the folder", lambda: profile_folder(model, folder)))


def joined(*several: Scored) -> Scored:
    """Scores of the same run below each other."""
    frames = [one.frame for one in several if len(one.frame)]
    return Scored(
        stack(frames) if frames else pd.DataFrame(columns=list(COLUMNS)),
        {name: reason for one in several for name, reason in one.left_out.items()},
    )


def _attempt(what: str, score: Callable[[], pd.DataFrame]) -> Scored:
    """Scores, or why there are none: a model that is trained keeps its other ones."""
    try:
        return Scored(score(), {})
    except CobalanceError as error:
        return Scored(pd.DataFrame(), {what: str(error)})


def _ratio_inputs(predictions: pd.DataFrame, words: str) -> Inputs:
    names = list(load_group_words(words).classes)
    if len(names) != 2:
        return Inputs(predictions)
    counts = [(predictions["predicted"] == name).sum() for name in names]
    return Inputs(table=pd.DataFrame([counts], columns=["first", "second"]))


def _classes(images: Examples) -> list[str]:
    return [images.classes[label] for label in images.labels.tolist()]
