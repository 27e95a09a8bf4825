"""`cobalance ingest` without a server: the dry run."""

import pytest

from cobalance.app.cli.main import whole_program
from cobalance.base.errors import OptionError


def test_a_dry_run_says_what_columns_become_and_needs_no_database(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    file = tmp_path / "seen.csv"
    file.write_text("id,label,weather,age\na,x,rainy,3\nb,y,sunny,40\nc,y,sunny,\n")
    words = ["ingest", str(file), "--dry-run", "--field", "age=bins:18:years"]
    whole_program().main(words, standalone_mode=False)
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["weather", "a", "concept", "per", "value", "2", "3", "0"] in shown
    assert ["age", "bins", "of", "equal", "counts", "2", "2", "1", "edges", "18"] in shown
    with pytest.raises(OptionError, match="--dry-run reads files in memory"):
        whole_program().main(
            ["ingest", str(file), "--dry-run", "--engine", "spark", "--keep-images", "sample"],
            standalone_mode=False,
        )
