"""CLIP's scores as in Pinpoint Counterfactuals, on test images and a labelled folder."""

from pathlib import Path

import pandas as pd

from cobalance.base import InputError
from cobalance.evaluation.metrics.bias.lic import group_words
from cobalance.evaluation.metrics.bias.markedness import (
    PERSON,
    person_preference,
    prompt_similarities,
    self_similarity,
)
from cobalance.evaluation.metrics.group_accuracy import accuracy, group_accuracy
from cobalance.evaluation.metrics.metric import stack
from cobalance.evaluation.metrics.opportunity_gap import opportunity_gap_of_predictions
from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.training.data import code_examples, read_folder_images
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.model import TextModel
from cobalance.evaluation.training.run import predict
from cobalance.vision import prompt_for

PREFIX = "folder_"
"""Of the names of the scores of a labelled folder, beside those of the test images."""


def profile_groups(model: TextModel, images: Examples, groups: list[str]) -> pd.DataFrame:
    """Self-similarity and person preference of groups (Pinpoint Counterfactuals, section 4.3).

    Parameters
    ----------
    groups : list of str
        The group of each image.

    Returns
    -------
    frame of scores
        ``self_similarity``; and ``person_preference`` against the image's own group, where all
        groups are words for people, such as man and woman: else "a photo of a person" is no
        alternative to them.
    """
    embeddings = model.features(images)
    frames = [self_similarity(embeddings, groups)]

    names = sorted(set(groups))
    people = set(map(str.casefold, group_words("pinpoint")))
    if names and people.issuperset(map(str.casefold, names)):
        texts = [prompt_for([name], model.prompt) for name in (PERSON, *names)]
        prompts = dict(zip((PERSON, *names), model.embed_texts(texts), strict=True))
        frames.append(person_preference(prompt_similarities(embeddings, prompts), groups))
    return stack(frames)


def profile_folder(model: TextModel, folder: Path) -> pd.DataFrame:
    """Zero-shot scores of a folder with a subfolder for each class.

    Where all subfolders have subfolders in their turn, these are groups of people, as
    ``nurse/woman/1.jpg``: then accuracy of each class and group is recall as on FACET.

    Returns
    -------
    frame of scores
        ``folder_accuracy``, ``folder_group_accuracy``; and with groups ``folder_opportunity_gap``
        with its parts, and those of `profile_groups`.

    Raises
    ------
    InputError
        There are no images in subfolders, or some are in groups and some not.
    """
    labelled = read_folder_images(folder)
    classes = sorted(set(labelled.frame["class_name"]))
    images = code_examples({"folder": labelled}, classes=classes)["folder"]
    predictions = check_predictions(predict(model, images, seed=0, method=""))

    # A path is class/image, or class/group/image.
    paths = [name.split("/") for name in images.ids]
    groups = [path[1] for path in paths if len(path) > 2]
    frames = [accuracy(predictions)]
    if not groups:
        frames.append(group_accuracy(predictions))
    elif len(groups) < len(paths):
        image = "/".join(next(path for path in paths if len(path) <= 2))
        reason = "it is in no group, and others are, as class/group/image"
        raise InputError(str(folder), image, reason, "Put all images into groups, or none.")
    else:
        table = pd.DataFrame({"image": list(images.ids), PERSON: groups})
        frames.append(group_accuracy(predictions, table))
        frames.append(opportunity_gap_of_predictions(predictions, table))
        frames.append(profile_groups(model, images, groups))

    scores = stack(frames)
    return scores.assign(metric=PREFIX + scores["metric"])
