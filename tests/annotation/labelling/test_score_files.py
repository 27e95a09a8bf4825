"""Scores of annotators that name what they see are stored without zeros, and read as all others."""

import io

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings as runs, strategies as st
from hypothesis.extra import numpy as arrays

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.annotators.captions import CaptionAnnotator
from cobalance.annotation.labelling.labels import examples, label_summary, read_labels
from cobalance.annotation.labelling.score_files import ScoreFiles, score_chunk
from cobalance.annotation.labelling.settings import LabelledAttribute, LabelSettings
from cobalance.vision.stored.output_folder import OutputFolder

NAMES = ["cow", "</script>", "o'hare", "cow"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return OutputFolder(str(tmp_path_factory.mktemp("scores")))


@runs(max_examples=25)
@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(0, 7), st.integers(1, 4)),
        elements=st.sampled_from([0, 0, 0.5, 1]),
    ),
    st.integers(0, 127),
    st.sampled_from([-1.0, 0.0, 0.5, 0.7]),
    st.integers(1, 3),
)
def test_what_is_stored_without_zeros_is_read_as_with_them(folder, matrix, unread, limit, size):
    images, texts = matrix.shape
    matrix[[at for at in range(images) if unread >> at & 1]] = np.nan
    ids = [f"im\"age '{at}" for at in range(images)]
    settings = LabelSettings(
        annotator="extract",
        attributes=[LabelledAttribute(category="", concept=n, caption=n) for n in NAMES[:texts]],
        rule="threshold",
        threshold=0.5,
        thresholds={"cow": limit},
        images=images,
        chunk_images=size,
    )
    read = []
    for only_seen in (False, True):
        files = ScoreFiles(folder, f"run {only_seen}")
        for chunk in range(settings.chunks):
            part = slice(chunk * size, (chunk + 1) * size)
            files.write_scores(chunk, ids[part], Scores(matrix[part], None, only_seen))
        parts = list(files.read_scores(settings.chunks, texts))
        assert [name for names, _ in parts for name in names] == ids
        stacked = [scores.matrix for _, scores in parts]
        np.testing.assert_array_equal(np.concatenate([np.empty((0, texts)), *stacked]), matrix)
        read.append(
            (
                read_labels(files, settings),
                label_summary(files, settings),
                pd.DataFrame(examples(files, settings, texts - 1, 2)),
            )
        )
    for with_zeros, without in zip(*read, strict=True):
        pd.testing.assert_frame_equal(with_zeros, without)


def test_only_what_a_caption_names_is_written(tmp_path):
    class Written(CaptionAnnotator):
        def captions(self, images):
            return ["A cow by a tree" if image.any() else "Nothing" for image in images]

        def describe_model(self):
            return {}

    images = {at: np.full((2, 2, 3), at % 2, np.uint8) for at in range(70)}
    read = images | {3: None}
    texts = ("a photo of a cow", "a dog", "tree")
    scores = score_chunk(Written(), read.get, 70, texts, lambda done: None)
    files = ScoreFiles(OutputFolder(str(tmp_path)), "run")
    files.write_scores(0, [str(at) for at in range(70)], scores)
    (path,) = tmp_path.rglob("*.parquet")
    first = path.read_bytes()
    rows = pq.read_table(io.BytesIO(first)).to_pylist()
    assert [row["texts"] for row in rows[:4]] == [[], [0, 2], [], None]
    assert rows[69] == {"image": "69", "texts": [0, 2], "scores": [1.0, 1.0]}
    files.write_scores(0, [str(at) for at in range(70)], scores)
    assert path.read_bytes() == first
