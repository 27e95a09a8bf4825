"""What images of an export bring along: an edited one has the regions of its source."""

import hashlib
from dataclasses import replace

import pandas as pd
import pytest

from cobalance.generation.export import export
from tests.generation.export.conftest import HOSTILE, SIZE, picture


@pytest.mark.parametrize("edited", [True, False])
def test_an_edited_image_of_its_source_s_size_has_the_source_s_regions(sample, tmp_path, edited):
    made = sample.dataset.generated.copy()
    source = HOSTILE[3]  # whose size is annotated, and which shows wood and a street in a place
    made["source_image"] = source
    made["source_class"] = "another" if edited else None
    larger = made["candidate"].iloc[1]
    rows = made["candidate"] == larger
    content = picture(1, size=(32, 24))
    sample.stores.generated[made["path"][rows].item()] = content
    made.loc[rows, ["width_px", "height_px", "mask_path"]] = [32, 24, None]
    made.loc[rows, "sha256"] = hashlib.sha256(content).hexdigest()
    dataset = replace(sample.dataset, generated=made)
    export(dataset, "folder", tmp_path / "out")
    table = pd.read_parquet(tmp_path / "out" / "manifest.parquet").set_index("image_id")
    own = {region["concept"]: region for region in table.loc[source, "regions"]}
    assert len(own) > 1
    for candidate in made["candidate"]:
        shown = set(table.loc[candidate, "concepts"]) & set(own)
        regions = table.loc[candidate, "regions"]
        if not edited or candidate == larger:
            assert len(regions) == 0
            continue
        assert (table.loc[candidate, "width"], table.loc[candidate, "height"]) == SIZE
        assert {region["concept"] for region in regions} == shown
        for region in regions:
            assert str(region) == str(own[region["concept"]])
    twins = table.loc[made["candidate"], "twin"]
    assert set(twins.dropna()) == ({source} if edited else set())
    assert pd.notna(table.loc[source, "twin"]) == edited
