"""A dry run tells what a load then does, and changes nothing."""

import pytest

from graph.dataset.dry_run import dry_run
from graph.dataset.write import write_annotations
from graph.errors import OptionError


@pytest.mark.parametrize("replace", [False, True])
def test_it_tells_what_the_load_does(store, dataset, dump, random_annotations, replace):
    assert dry_run(store, dataset, random_annotations(30)).created == 30
    assert dump(dataset) == set()
    write_annotations(store, dataset, random_annotations(30), source="a test")
    before = dump(dataset)
    for other in (random_annotations(30), random_annotations(20, seed=1)):
        told = dry_run(store, dataset, other, replace=replace)
        assert dump(dataset) == before
        done = write_annotations(store, dataset, other, source="a test", replace=replace)
        assert told == done
        before = dump(dataset)


def test_a_name_that_no_dataset_can_have(store, random_annotations):
    with pytest.raises(OptionError, match="cannot name a dataset"):
        dry_run(store, " ", random_annotations(1))
