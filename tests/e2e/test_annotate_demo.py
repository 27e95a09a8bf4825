"""`cobalance demo --annotate`: an audit tells invented imbalances from the one that there is."""

import pytest

from cobalance.app.cli.demo import annotate_parts, show
from cobalance.base.records import Annotations, ImageRecord
from cobalance.graph.annotations.runs import NewRun, create_run
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.demo.annotate import CONCEPTS, NAME, RARE, run_annotate_demo
from cobalance.workflows.demo.removal import claim_name


@pytest.fixture
def own(settings, store, tmp_path, monkeypatch):
    """Settings with places of this test's own."""
    monkeypatch.setenv("COBALANCE_HOME", str(settings.cobalance_home))
    yield settings.model_copy(update={"cobalance_output": str(tmp_path / "generated")})
    if find_dataset(store, NAME) is not None:
        drop_dataset(store, NAME)


def test_an_audit_corrects_what_the_annotator_invents(store, own, capsys):
    claim_name(store, NAME)
    before = Annotations.from_records([ImageRecord("a", "town", ())])
    write_annotations(store, NAME, before, source="before")
    earlier = create_run(store, NAME, NewRun("propose", "scripted", {}))
    folder = OutputFolder(own.folders().output)
    folder.write(f"annotations/{earlier}/replies/0.json", b"{}")

    found = run_annotate_demo(store, own)
    assert not folder.exists(f"annotations/{earlier}/replies/0.json")
    things = found.pictures
    true = {
        name: (things[things["thing"] == name]["class_name"] == "town").sum()
        - (things[things["thing"] == name]["class_name"] == "garden").sum()
        for name in CONCEPTS
    }
    assert {name for name, gap in true.items() if gap} == {RARE[0]}

    assert found.proposed.usage.asked == 3 + 2 * 3 + 2
    states = found.attributes.set_index("proposed")["state"]
    assert states.to_dict() == dict.fromkeys(CONCEPTS, "accepted") | {
        "town": "rejected",
        "garden": "rejected",
    }

    # The labels are a real classifier's, neither right nor blind; the graph believes them.
    assert 0.5 < found.measured.macro["auc"].value < 0.95
    significant = found.believed[found.believed["q_value"] < 0.05]
    invented = {names[0] for names in significant["concepts"]} - {RARE[0]}
    assert len(invented) >= 3

    rows = found.corrected.set_index("concept")
    assert set(rows.index) == set(CONCEPTS)
    for name, row in rows.iterrows():
        sign = 1 if row["over_represented"] == "town" else -1
        assert sign * true[name] == row["true_gap"]
        assert row["corrected_gap_low"] <= row["true_gap"] <= row["corrected_gap_high"], name
        assert (row["verdict"] == "supported") == (name == RARE[0]), name
    before = (rows["gap"] - rows["true_gap"]).abs().sum()
    after = (rows["corrected_gap"] - rows["true_gap"]).abs().sum()
    assert after < before / 3

    assert find_dataset(store, NAME).demo
    show(annotate_parts(found))
    said = capsys.readouterr().out
    assert "invented" in said
    assert "6 of 6 true gaps" in " ".join(said.split())
