"""The data card says what is in an export, whatever its names contain."""

from generation.export import export


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
