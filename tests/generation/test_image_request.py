"""Image requests: seeds."""

from cobalance.generation.image_request import seed_of


def test_seeds_differ_and_fit():
    seeds = {seed_of("job", query, index) for query in range(40) for index in range(40)}
    assert len(seeds) == 1600
    assert all(0 <= seed < 2**63 for seed in seeds)
