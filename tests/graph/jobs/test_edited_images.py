"""Edited images side by side: found without reading a job whole, reviewed, decisions undone."""

from collections import Counter

import pytest

from cobalance.base.errors import NotFoundError, StaleError
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs import candidate_pages, reads
from cobalance.graph.jobs.candidate_pages import (
    count_edited,
    count_reviewed,
    find_edited,
    read_edited,
)
from cobalance.graph.jobs.candidates import (
    NewCandidate,
    decide,
    read_decisions,
    record_made,
    restore_decisions,
)
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.rounds import begin_round
from cobalance.graph.jobs.settlement import RankedCandidate, Settlement, settle_queries
from cobalance.graph.jobs.status import read_queries
from tests.graph.jobs.reporting import counted, recounted, verdicts_of

GROUPS = ("man", "woman")
IMAGES = ("image 1", "image 2", "image 3")


@pytest.fixture
def edited(store, dataset):
    """Three images asked for in both groups; then one anew; then one for one group alone."""
    records = [
        ImageRecord(f"image {at}", GROUPS[at % 2], (Mention("dog"),), "train", f"{at}.jpg")
        for at in range(1, 5)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    queries = [
        PlannedQuery(group, ("dog",), 1, Edit(image)) for image in IMAGES for group in GROUPS
    ]
    queries += [PlannedQuery("man", ("dog",), 2), PlannedQuery("man", (), 1, Edit("image 4"))]
    return create_job(store, dataset, "twins", queries)


@pytest.fixture
def settle(store, edited):
    """Make candidates of a query, and choose the best: candidate i has rank i + 1."""

    def make(position, made=4, unranked=1, keep_losers=True):
        query = query_id(edited, position)
        candidates = [
            NewCandidate(
                f"{query}/{index:06d}",
                f"{position}-{index}.png",
                "rejected" if index >= made - unranked else "accepted",
                {"same_colours": 1 / (1 + index)},
                "blank" if index >= made - unranked else "",
                source_uri="elsewhere.jpg",
                mask_uri=f"mask {position}-{index}.png",
                index=index,
            )
            for index in range(made)
        ]
        record_made(store, edited, {query: candidates})
        ranked = [
            RankedCandidate(one.id, rank, f"Rank {rank} of {made - unranked}.")
            for rank, one in enumerate(candidates[: made - unranked], 1)
        ]
        chosen = Settlement(query, made, ranked)
        settle_queries(store, edited, [chosen], keep_losers=keep_losers)
        return [one.id for one in candidates]

    begin_round(store, edited, 0, [], best_of=4)
    return make


def test_images_are_found_in_order_from_anywhere(store, edited):
    assert count_edited(store, edited) == 4
    queries = 8
    assert find_edited(store, edited, 0, 10, queries=queries) == [0, 2, 4, 7]
    assert find_edited(store, edited, 1, 2, queries=queries) == [2, 4]
    assert find_edited(store, edited, 5, 1, queries=queries) == [7]
    assert find_edited(store, edited, 7, 9, queries=queries, backwards=True) == [7, 4, 2, 0]
    assert find_edited(store, edited, 3, 1, queries=queries, backwards=True) == [2]
    assert find_edited(store, edited, -1, 1, queries=queries, backwards=True) == []
    assert find_edited(store, edited, 8, 1, queries=queries) == []


@pytest.mark.parametrize("backwards", [False, True])
def test_windows_find_what_one_look_at_all_finds(store, edited, monkeypatch, backwards):
    start = 7 if backwards else 0
    found = find_edited(store, edited, start, 9, queries=8, backwards=backwards)
    monkeypatch.setattr(candidate_pages, "_FIRST_WINDOW", 1)
    monkeypatch.setattr(candidate_pages, "_LARGEST_WINDOW", 2)
    assert find_edited(store, edited, start, 9, queries=8, backwards=backwards) == found


def test_queries_of_an_image_that_are_not_side_by_side_are_found_once(store, dataset, edited):
    queries = [
        PlannedQuery(group, ("dog",), 1, Edit(image)) for group in GROUPS for image in IMAGES
    ]
    job = create_job(store, dataset, "group by group", queries)
    assert find_edited(store, job, 0, 9, queries=6) == [0, 1, 2]
    (image,) = read_edited(store, job, [4])
    assert (image.position, image.source_image) == (1, "image 2")
    assert [group.position for group in image.groups] == [1, 4]  # and of no other job


def test_looking_for_the_next_image_reads_a_few_queries(store, edited, monkeypatch):
    asked = Counter()
    read = type(store).read

    def counting(self, statement, **parameters):
        asked[statement is reads.FIRST_OF_EDITED] += len(parameters.get("ids", ()))
        return read(self, statement, **parameters)

    monkeypatch.setattr(type(store), "read", counting)
    assert find_edited(store, edited, 0, 3, queries=57_000) == [0, 2, 4]
    assert asked == {True: 64}


def test_twins_come_with_their_candidates_by_rank(store, edited, settle):
    made = settle(0)
    settle(1, made=3)
    image, other = read_edited(store, edited, [0, 4])
    assert (image.source_image, image.uri, image.concepts) == ("image 1", "1.jpg", ("dog",))
    assert image.mask_uri == "mask 0-0.png"
    man, woman = image.groups
    assert (man.class_name, man.made, man.dropped, man.pending) == ("man", 4, 0, 0)
    assert [(one.id, one.rank) for one in man.candidates] == list(
        zip(made, [1, 2, 3, None], strict=True)
    )
    assert [one.verdict for one in man.candidates] == ["accepted", *["rejected"] * 3]
    assert [one.id for one in man.chosen] == made[:1]
    assert (woman.class_name, woman.made) == ("woman", 3)
    assert [group.candidates for group in other.groups] == [(), ()]
    assert read_edited(store, edited, [6, 99]) == []  # made anew; no query


def test_the_winner_is_among_the_few_that_are_read(store, edited, settle):
    made = settle(0)
    decide(store, made[2], "accepted", "ann")
    (image,) = read_edited(store, edited, [0], most=2)
    assert [one.id for one in image.groups[0].candidates] == [made[0], made[2]]
    assert [one.id for one in image.groups[0].chosen] == [made[2]]


def test_losers_that_were_dropped_are_counted(store, edited, settle):
    made = settle(0, keep_losers=False)
    (image,) = read_edited(store, edited, [0])
    man = image.groups[0]
    assert ([one.id for one in man.candidates], man.made, man.dropped) == (made[:1], 4, 3)


def test_candidates_that_are_compared_come_before_the_rejected(store, edited):
    query = query_id(edited, 0)
    begin_round(store, edited, 0, [], best_of=4)
    made = [
        NewCandidate(f"{query}/{index}", "0.png", verdict, index=index)
        for index, verdict in enumerate(["rejected", "accepted", "accepted"])
    ]
    record_made(store, edited, {query: made})
    (image,) = read_edited(store, edited, [0])
    found = [(one.id, one.verdict) for one in image.groups[0].candidates]
    assert [verdict for _, verdict in found] == ["pending", "pending", "rejected"]
    assert image.groups[0].pending == 2
    assert image.uri == "1.jpg"


def test_an_image_is_reviewed_when_people_decided_in_each_of_its_groups(store, edited, settle):
    man, woman = settle(0), settle(1)
    alone = settle(2)  # its other group has no candidates
    assert count_reviewed(store, edited) == 0
    decide(store, man[0], "accepted", "ann")
    assert count_reviewed(store, edited) == 0
    decide(store, woman[0], "rejected", "ann")  # and the next is promoted
    assert count_reviewed(store, edited) == 1
    decide(store, alone[2], "accepted", "")
    assert count_reviewed(store, edited) == 2


def test_images_to_review_are_found_until_people_have_decided(store, edited, settle):
    def left(start=0, **how):
        return find_edited(store, edited, start, 9, queries=8, unreviewed=True, **how)

    assert left() == []  # nothing was made
    man, woman = settle(0), settle(1)
    alone, single = settle(2), settle(7)
    assert left() == [0, 2, 7]
    assert left(7, backwards=True) == [7, 2, 0]
    decide(store, man[0], "accepted", "ann")
    decide(store, alone[1], "accepted", "ann")
    assert left() == [0, 7]
    decide(store, woman[2], "rejected", "ann")
    decide(store, single[0], "rejected", "ann")
    assert left() == []


@pytest.mark.parametrize(
    ("index", "verdict"), [(2, "accepted"), (0, "rejected"), (0, "accepted"), (3, "accepted")]
)
def test_a_decision_is_taken_back_exactly(store, edited, settle, index, verdict):
    made = settle(0)
    query = query_id(edited, 0)
    verdicts, counts = verdicts_of(store, edited), counted(store, edited)
    before = read_decisions(store, query)
    decide(store, made[index], verdict, "ann")
    after = read_decisions(store, query)
    assert after != before
    restore_decisions(store, before, after)
    assert read_decisions(store, query) == before
    assert verdicts_of(store, edited) == verdicts
    assert counted(store, edited) == counts == recounted(store, edited)
    assert count_reviewed(store, edited) == 0
    with pytest.raises(StaleError, match="have changed since"):
        restore_decisions(store, before, after)  # twice


def test_the_last_one_rejected_comes_back_without_its_message(store, edited, settle):
    made = settle(0, made=1, unranked=0)
    query = query_id(edited, 0)
    before = read_decisions(store, query)
    decide(store, made[0], "rejected", "ann")
    assert "no other candidate is left" in read_queries(store, edited)["message"][0]
    restore_decisions(store, before, read_decisions(store, query))
    assert read_queries(store, edited)["message"][0] == ""


def test_nothing_is_taken_back_that_somebody_has_changed_since(store, edited, settle):
    made = settle(0)
    query = query_id(edited, 0)
    before = read_decisions(store, query)
    decide(store, made[1], "accepted", "ann")
    after = read_decisions(store, query)
    decide(store, made[2], "accepted", "bob")
    verdicts = verdicts_of(store, edited)
    with pytest.raises(StaleError, match="Decide again"):
        restore_decisions(store, before, after)
    assert verdicts_of(store, edited) == verdicts
    with pytest.raises(NotFoundError):
        read_decisions(store, "no query")
