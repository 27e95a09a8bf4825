"""Orders that fail, go on, and are given again; what was seen nowhere; costs."""

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelledAttribute, LabelSettings
from cobalance.annotation.language.chat import LanguageModelError, Reply
from cobalance.annotation.proposing.attribute_flags import UNSEEN, ngram_vectors
from cobalance.annotation.proposing.options import read_preset
from cobalance.annotation.proposing.review import accept_all
from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord
from cobalance.graph.annotations.attributes import decide_attributes, list_attributes
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.dataset.drop_rename import rename_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.label.order import label_cost
from cobalance.workflows.label.propose import open_embedder, propose_attributes
from cobalance.workflows.label.work import flag_unseen
from cobalance.workflows.load.dataset import drop_dataset
from cobalance.workflows.settings import Settings
from tests.tiny.vision import save_owlv2


class Scripted:
    """Proposes a colour and a size, until it breaks."""

    def __init__(self, lasts=1000):
        self.lasts, self.asked = lasts, []

    def ask(self, question):
        if len(self.asked) == self.lasts:
            raise LanguageModelError("the wire is cut")
        self.asked.append(question)
        if "attribute categories" in question.text:
            return Reply("['color', 'size']", 10, 1)
        if question.text.startswith("Are "):
            return Reply("no", 10, 1)
        return Reply("['red', 'blue']" if "category color" in question.text else "['tall']", 10, 1)

    def describe(self):
        return {"model": "scripted"}


@pytest.fixture
def birds(store, dataset, tmp_path, monkeypatch):
    for at in range(3):
        pixels = np.full((20, 20, 3), at * 80, np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{at}.png")
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path))
    records = [ImageRecord(str(at), "a", (), uri=f"{at}.png") for at in range(3)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


def test_an_interrupted_order_goes_on_where_it_stopped(store, birds, tmp_path):
    folder = OutputFolder(str(tmp_path / "output"))
    options = read_preset("gelda", {"rounds": 2})
    order = (birds, "a photo of a bird", options)
    broken = Scripted(lasts=4)
    with pytest.raises(LanguageModelError, match="the wire is cut"):
        propose_attributes(store, folder, broken, *order)
    (run,) = list_runs(store, birds)
    assert (run.state, run.error) == ("failed", "the wire is cut")
    assert not len(list_attributes(store, birds))

    whole = Scripted()
    done = propose_attributes(store, folder, whole, *order)
    assert (done.run, done.attributes, done.usage.kept) == (run.id, 3, 4)
    every = [(one.text, one.round) for one in broken.asked + whole.asked]
    assert len(set(every)) == len(every) == 2 + 2 * 2 + 2
    (run,) = list_runs(store, birds)
    assert (run.state, run.error) == ("done", "")
    assert run.settings["usage"] == {"replies": 8, "tokens_in": 80, "tokens_out": 8}

    decide_attributes(store, birds, accept_all(list_attributes(store, birds)))
    silent = Scripted(lasts=0)
    propose_attributes(store, folder, silent, *order)
    assert set(list_attributes(store, birds)["state"]) == {"accepted"}
    rename_dataset(store, birds, f"{birds} renamed")
    records = [ImageRecord("other", "a", ())]
    write_annotations(store, birds, Annotations.from_records(records), source="a test")
    assert propose_attributes(store, folder, Scripted(), *order).run != done.run
    assert set(list_attributes(store, birds)["state"]) == {"proposed"}
    decide_attributes(store, birds, accept_all(list_attributes(store, birds)))
    with pytest.raises(OptionError, match="caption is empty"):
        propose_attributes(store, folder, silent, birds, " ", options)

    attributes = tuple(
        LabelledAttribute(category="", concept=name, caption=name) for name in ("red", "tall")
    )
    settings = LabelSettings(
        annotator="owlv2", attributes=attributes, rule="threshold", images=2, chunk_images=2
    )
    files = ScoreFiles(folder, "0")
    files.write_images(pa.table({"id": ["0", "1"], "uri": ["", ""], "synthetic": [False, False]}))
    files.write_scores(0, ["0", "1"], Scores(np.array([[0.9, 0.1], [0.1, 0.2]], np.float32)))
    assert flag_unseen(store, birds, files, settings) == 1
    flags = list_attributes(store, birds).set_index("proposed")["flags"]
    assert flags.to_dict() == {"red": (), "blue": (), "tall": (UNSEEN,)}
    lower = settings.model_copy(update={"threshold": 0.2})
    assert flag_unseen(store, birds, files, lower) == 0
    assert set(list_attributes(store, birds)["flags"]) == {()}


def test_the_seconds_of_a_dataset_are_measured_on_its_images(store, birds, tmp_path):
    folders = Settings.from_environment().folders()
    model = str(save_owlv2(tmp_path / "owlv2"))
    cost = label_cost(store, folders, birds, 4, "owlv2", {"model": model, "batch_size": 1})
    assert (cost["images"], cost["image_passes"]) == (3, 6)
    assert cost["seconds"] > 0
    assert "seconds" not in label_cost(store, folders, birds, 4)


def test_what_embeds_is_named():
    assert open_embedder("letters") == (ngram_vectors, "groups of letters")
    with pytest.raises(UnknownNameError, match="auto, clip, letters"):
        open_embedder("bert")


def test_dropping_a_dataset_deletes_the_files_of_its_runs_alone(store, settings, birds, tmp_path):
    output = tmp_path / "output"
    order = (birds, "a photo of a bird", read_preset("gelda", {"rounds": 1}))
    done = propose_attributes(store, OutputFolder(str(output)), Scripted(), *order)
    assert list((output / "annotations" / done.run).rglob("*.json"))
    other = output / "annotations" / "another run" / "kept.json"
    other.parent.mkdir()
    other.write_text("{}")
    own = settings.model_copy(
        update={"cobalance_home": tmp_path / "home", "cobalance_output": str(output)}
    )
    drop_dataset(store, own.folders(), birds)
    assert [file for file in output.rglob("*") if file.is_file()] == [other]
