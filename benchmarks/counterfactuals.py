"""How long choosing the images to edit and planning for them takes, on data of COCO's size.

    python -m benchmarks.counterfactuals [--images 30000 120000]

Images of the classes man and woman with 1 to 8 of 80 concepts and five captions each, of which 40%
name a group, 5% a child and a few several, all drawn with seed 0. CPU seconds of `select_sources`
and `plan_counterfactuals`, which look at nothing else, and the process's peak memory; reading the
dataset and writing the plan are left out.
"""

import argparse
import random
import time

import pandas as pd

from cobalance.generation.planning.counterfactuals import plan_counterfactuals
from cobalance.generation.planning.source_selection import select_sources
from cobalance.generation.recipes import RECIPES
from cobalance.ingest.concepts.word_lists import combine_words
from tests.support.memory import peak_mb

SUBJECTS = (
    *(["man", "woman"] * 6 + ["lady", "couple of men", "young man in a suit", "man and woman"]),
    *(["dog", "train", "person", "group of people", "plate", "red bus", "cat"] * 3),
    *("boy", "girl"),
)
VERBS = ("rides", "holds", "stands next to", "looks at", "is sitting on", "is seen with")
OBJECTS = (
    *("a bicycle near the beach", "his surf board", "her phone", "an elephant in a field"),
    *("a wooden table with food", "the street sign", "himself in a mirror", "two horses"),
)
CONCEPTS = [f"concept {i}" for i in range(80)]


def draw(number: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Images and their texts, as `select_sources` takes them."""
    rng = random.Random(0)
    ids = [f"{i:012d}" for i in range(number)]
    images, captions = [], []
    for _ in ids:
        split = "val2017" if rng.random() < 0.05 else "train2017"
        subject = rng.choice(SUBJECTS)
        own = "woman" if "woman" in subject or subject == "lady" else "man"
        images.append((own, split, False, rng.sample(CONCEPTS, rng.randint(1, 8))))
        subjects = [subject if rng.random() < 0.9 else rng.choice(SUBJECTS) for _ in range(5)]
        captions.append([f"A {one} {rng.choice(VERBS)} {rng.choice(OBJECTS)}." for one in subjects])
    frame = pd.DataFrame(images, columns=["class_name", "split", "synthetic", "concepts"])
    texts = {"id": ids, "captions": captions, "license": "Attribution License", "license_url": None}
    return frame.assign(id=ids), pd.DataFrame(texts)


def main() -> None:
    """Plan for each recipe that edits captions, and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, nargs="+", default=[30_000, 120_000])
    for number in parser.parse_args().images:
        images, texts = draw(number)
        print(f"{number:,} images, {5 * number:,} captions; {peak_mb():,.0f} MB")
        for recipe in ("resampled", "pinpoint", "gensynth"):
            options = RECIPES[recipe].plan
            assert options is not None
            words = combine_words(options.words)
            started = time.process_time()
            sources = select_sources(images, texts, words.groups, options, words).sources
            chosen = time.process_time()
            queries = plan_counterfactuals(sources, words.groups, options.made)
            planned = time.process_time()
            print(
                f"  {recipe}: {len(sources):,} sources in {chosen - started:.1f} s, "
                f"{len(queries):,} queries in {planned - chosen:.1f} s; peak {peak_mb():,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
