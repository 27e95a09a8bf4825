import pandas as pd

from cobalance.generation.sources.object_regions import object_regions


def test_what_the_object_is():
    regions = pd.DataFrame({"concept": ["person", "Fire_Hydrant", "person", "dog"]})

    def chosen(class_name, *names):
        return object_regions(regions, class_name, names).index.tolist()

    assert chosen("fire hydrant") == [1]
    assert chosen("woman") == [0, 2]
    assert chosen("urban") == []  # never guessed among several
    assert chosen("urban", "dog", "nothing") == [3]
    assert chosen("woman", "dog") == [3]
    assert chosen("urban", "*") == [0, 1, 2, 3]
    assert object_regions(regions.iloc[[0, 2]], "urban").index.tolist() == [0, 2]
