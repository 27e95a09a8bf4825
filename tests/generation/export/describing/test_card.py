"""The data card says what is in an export, whatever its names contain."""

import json
from dataclasses import replace

from cobalance.generation.export import export


def test_the_card_tells_what_is_in_it(any_format, sample, tmp_path):
    export(sample.dataset, any_format, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert card.startswith('---\npretty_name: "birds \\"<b>\\" \\u202e*x*"\n')
    assert '# birds "&lt;b&gt;" \\*x\\*' in card
    assert "\u202e" not in card
    assert "<script>" not in card
    assert "## Licence" in card
    assert "SHA256SUMS" in card
    cells = "sea \\| &lt;script&gt;alert(1)&lt;/script&gt; \\*bird\\*"
    made = "0" if any_format == "weights" else "4"
    assert f"| train | {cells} | 4 | {made} | {4 + int(made)} |" in card
    if any_format != "weights":
        assert "Model: owner/name" in card
        assert "Setting steps: 50" in card
        assert "Settings of each image's own: x\\_px" in card
        assert "| clip | 5 | 0.7 | 2.7 | 4.7 | 0 |" in card
        assert "Software: cobalance 0.1.0" in card
        assert "compositeWithTrainedAlgorithmicMedia" in card


def test_counterfactuals_are_told_with_their_limits_and_the_consent_given(sample, tmp_path):
    def card(groups, name):
        made = sample.dataset.generated.assign(source_class=groups)
        basis = json.dumps({"consent": "paid <models>, signed"})
        dataset = replace(sample.dataset, generated=made.assign(settings=basis))
        export(dataset, "folder", tmp_path / name)
        return (tmp_path / name / "README.md").read_text()

    number = len(sample.dataset.generated)
    told = card(["another"] * number, "beside")
    assert f"{number} images of people were painted on this basis: paid &lt;models&gt;" in told
    assert "It is nobody's identity" in told
    assert "the traces of generation as a sign of a group" in told
    own = sample.dataset.generated["class"].tolist()
    assert "traces of generation" not in card(own, "every group")
    export(sample.dataset, "folder", tmp_path / "plain")
    plain = (tmp_path / "plain" / "README.md").read_text()
    assert "## People" not in plain
    assert "nobody's identity" not in plain
