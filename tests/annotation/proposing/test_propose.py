import json
import os
import subprocess
import sys
import threading

import pytest

from cobalance.annotation.language.chat import LanguageModelError, Reply
from cobalance.annotation.language.endpoint import Endpoint
from cobalance.annotation.language.transcript import Transcript
from cobalance.annotation.proposing.cost import chat_cost, measure_chat, measure_seconds
from cobalance.annotation.proposing.options import caption_of, read_preset
from cobalance.annotation.proposing.propose import propose
from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.vision.stored.output_folder import OutputFolder
from tests.support.scripted_endpoint import Answer, scripted_endpoint

CAPTION = "a photo of a bird"


def reply_to(body):
    """Ten categories of five attributes; those of even number are objects."""
    text = body["messages"][0]["content"]
    if "attribute categories" in text:
        return repr([f"category {at}" for at in range(10)])
    if "different examples" in text:
        category = text.partition("category category ")[2].split()[0]
        return f"Of course: {[f'thing {category}, {at}' for at in range(5)]}"
    if text.startswith("Are "):
        return "Yes, all." if int(text.split()[2][:-1]) % 2 == 0 else "No. They are not."
    return f"A caption of {text.partition(' is ')[2].partition('.')[0]}."


class Scripted:
    """A language model whose replies are a function of the question."""

    def __init__(self, reply):
        self.reply, self.asked = reply, []

    def ask(self, question):
        self.asked.append(question)
        return Reply(self.reply(question))

    def describe(self):
        return {"model": "scripted"}


@pytest.mark.parametrize("llm_prompts", [False, True])
def test_an_unruly_endpoint_is_asked_as_often_as_the_cost_says(tmp_path, llm_prompts):
    trouble = {3: Answer("slow", 429), 9: Answer("oops", 500), 20: Answer("['x", 200, "length"),
               33: Answer("I would rather not.")}  # fmt: skip
    good = []

    def answer(body):
        if "response_format" in body:
            return Answer("response_format is not supported", 400)
        if len(served.requests) in trouble:
            return trouble[len(served.requests)]
        good.append(body)
        return reply_to(body)

    options = read_preset("gelda", {"llm_prompts": llm_prompts, "with_schema": True})
    with scripted_endpoint(answer) as served:
        kept = Transcript(Endpoint(served.url, "m"), OutputFolder(str(tmp_path)), "replies")
        found = propose(kept, CAPTION, options).attributes
        expected = 115 if llm_prompts else 65
        assert len(good) == expected == chat_cost(options, CAPTION).calls
        asked = len(served.requests)
        again = Transcript(Endpoint(served.url, "m"), OutputFolder(str(tmp_path)), "replies")
        assert propose(again, CAPTION, options).attributes == found
        assert len(served.requests) == asked
    assert len(found) == 50
    assert found[0].key == ("category 0", "thing 0, 0")
    assert {one.level for one in found[:5]} == {"object"}
    assert (found[5].level, found[5].votes, found[5].rounds) == ("image", 5, 5)
    assert found[5].caption == (
        "A caption of thing 1, 0" if llm_prompts else "a bird with thing 1, 0"
    )


def test_what_is_asked_is_what_the_paper_asks():
    def reply(question):
        if question.text.startswith("Are "):
            return "No. Explanation."
        return '["wings"]' if "categories" in question.text else '["red", "blue"]'

    chat = Scripted(reply)
    options = read_preset("gelda", {"rounds": 1, "phrases": {"wings": "has"}})
    found = propose(chat, CAPTION, options).attributes
    assert [one.text for one in chat.asked] == [
        "What are 10 attribute categories that can be used to visually distinguish images "
        "described by the caption a photo of a bird? Output the categories in one Python list.",
        "What are 5 different examples of the category wings that can be used to distinguish "
        "images described by the caption a photo of a bird? Output the examples in one Python "
        "list.",
        "Are red, blue examples of objects or items? Answer with a yes or no. Explain your answer.",
    ]
    assert {one.temperature for one in chat.asked} == {0.3}
    assert {one.schema for one in chat.asked} == {None}
    assert [one.caption for one in found] == ["a bird has red wings", "a bird has blue wings"]


@pytest.mark.parametrize(
    ("phrase", "paper", "ours"),
    [("is", "a orange bird", "an orange bird"),
     ("from", "a bird from orange", "a bird from orange"),
     ("has", "a bird has orange wing", "a bird has orange wing"),
     ("with", "a bird with orange", "a bird with orange"),
     ("in", "a bird in orange", "a bird in orange")],
)  # fmt: skip
def test_captions_follow_table_s1(phrase, paper, ours):
    for preset, expected in (("gelda", paper), ("default", ours)):
        options = read_preset(preset, {"phrases": {"wing": phrase}})
        assert caption_of(options, CAPTION, "wing", "orange", "image") == expected
        assert caption_of(options, CAPTION, "wing", "orange", "object") == "orange"
        assert caption_of(options, CAPTION, "wing", "a photo of x", "image") == "a photo of x"


def test_half_of_the_rounds_must_agree_and_seeds_ask_anew():
    def reply(question):
        assert question.schema
        if "Are " in question.text:
            return '{"answer": "no", "explanation": ""}'
        if "categories" in question.text:
            return '{"items": ["color", "size"]}' if question.round % 3 else '{"items": ["color"]}'
        return '{"items": ["red", "blue"]}' if question.round % 3 == 1 else '{"items": ["red"]}'

    chat = Scripted(reply)
    options = read_preset("default", {"rounds": 3, "seed": 2})
    found = propose(chat, CAPTION, options).attributes
    assert [one.key for one in found] == [("color", "red"), ("size", "red")]
    assert {one.round for one in chat.asked} == {6, 7, 8}


def test_sensitive_categories_are_left_out_or_called_perceived():
    def reply(question):
        if "categories" in question.text:
            return '["Gender", "pose", "Age group", "scene"]'
        return "no" if question.text.startswith("Are ") else '["x"]'

    options = read_preset("gelda", {"rounds": 1, "categories": 2})
    proposal = propose(Scripted(reply), "a photo of a person", options)
    assert proposal.left_out == ("gender", "age group")
    assert [one.category for one in proposal.attributes] == ["pose", "scene"]
    allowed = options.model_copy(update={"sensitive": True})
    proposal = propose(Scripted(reply), "a photo of a person", allowed)
    assert proposal.left_out == ()
    assert [one.category for one in proposal.attributes] == ["perceived gender", "pose"]


def test_gender_and_perceived_gender_are_one_category():
    said = iter(['["gender", "pose"]', '["pose", "Perceived_gender"]', '["Perceived Gender"]'])

    def reply(question):
        if "categories" in question.text:
            return next(said)
        return "no" if question.text.startswith("Are ") else '["x"]'

    options = read_preset("default", {"rounds": 3, "sensitive": True})
    found = propose(Scripted(reply), "a photo of a person", options).attributes
    assert [one.category for one in found] == ["perceived gender", "pose"]


def test_replies_that_cannot_be_read_are_an_error_after_three_tries():
    chat = Scripted(lambda question: "<think>['a']</think> I cannot say.")
    with pytest.raises(LanguageModelError, match=r"No reply of 3.*delete the run to ask"):
        propose(chat, CAPTION, read_preset("gelda"))
    assert [one.attempt for one in chat.asked] == [0, 1, 2]
    assert len({one.seed for one in chat.asked}) == 3


def test_the_order_does_not_depend_on_the_hash_seed():
    program = (
        "from cobalance.annotation.proposing.proposal_voting import vote;"
        "said=[['Color','Size','Pose'],['size','background','color'],['size','color','pose']];"
        "print([one.name for one in vote(said, 3)])"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert results == {"['size', 'color', 'pose']\n"}


def test_options_that_cannot_be_used():
    with pytest.raises(UnknownNameError, match="Known: default, gelda"):
        read_preset("paper")
    with pytest.raises(UnknownNameError, match="unknown phrase 'near'"):
        read_preset("gelda", {"phrases": {"scene": "near"}})
    for name, value in (("rounds", 0), ("categories", -1), ("temperature", float("nan"))):
        with pytest.raises(OptionError, match=name):
            read_preset("gelda", {name: value})


def test_costs_follow_the_options():
    small = read_preset("gelda", {"categories": 3, "attributes": 2, "rounds": 4})
    cost = chat_cost(small, CAPTION)
    assert cost.calls == 4 + 4 * 3 + 3
    longer = chat_cost(small, CAPTION * 9)
    assert longer.tokens_in > cost.tokens_in
    assert longer.tokens_out == cost.tokens_out


CLOCK = "cobalance.annotation.proposing.cost.perf_counter"


def test_seconds_are_those_of_two_batches_and_the_rest_at_the_pace_of_the_second(monkeypatch):
    times = iter([0.0, 5.0, 5.0, 7.0])  # 5 s for the first two images, 2 s for the others
    monkeypatch.setattr(CLOCK, lambda: next(times))

    class Annotator:
        def score(self, images, texts):
            return json.dumps([len(images), texts])

    seconds = measure_seconds(Annotator(), ["image"] * 4, ["a"], 104)
    assert seconds == 5 + 2 + 100 * 1


def test_seconds_of_calls_are_those_of_two_questions_and_the_rest_at_the_pace_of_the_second(
    monkeypatch,
):
    options = read_preset("gelda")  # 65 calls
    for at_once, rest in ((1, 64), (4, 16), (5, 13), (64, 1)):
        times, chat = iter([10.0, 13.0, 13.0, 15.0]), Scripted(lambda _: "")
        monkeypatch.setattr(CLOCK, lambda times=times: next(times))
        seconds = measure_chat(chat, options, CAPTION, at_once)
        assert seconds == 3 + 2 * rest
        assert len(chat.asked) == 2
        assert CAPTION in chat.asked[1].text


class OutOfOrder:
    """Gives every second reply of a stage only after the one that was asked for next."""

    def __init__(self, chat, ends):
        self.chat, self.ends, self.count, self.lock = chat, ends, 0, threading.Lock()
        self.answered = [threading.Event() for _ in range(ends[-1])]

    def ask(self, question):
        with self.lock:
            at = self.count
            self.count += 1
        start = max(end for end in (0, *self.ends) if end <= at)
        reply = self.chat.ask(question)
        if (at - start) % 2 == 0 and at + 1 not in self.ends:
            assert self.answered[at + 1].wait(300)
        self.answered[at].set()
        return reply

    def describe(self):
        return self.chat.describe()


def test_questions_at_once_give_the_same_replies_as_one_after_the_other(tmp_path):
    options = read_preset("gelda", {"llm_prompts": True})
    found = []
    with scripted_endpoint(reply_to) as served:
        for name, at_once in (("one", 1), ("four", 4)):
            chat = Endpoint(served.url, "m")
            if at_once > 1:
                chat = OutOfOrder(chat, (5, 55, 65, 115))
            kept = Transcript(chat, OutputFolder(str(tmp_path)), name)
            found.append(propose(kept, CAPTION, options, at_once=at_once))
            assert (kept.usage.asked, kept.usage.kept) == (115, 0)
            found.append((kept.usage.tokens_in, kept.usage.tokens_out))
        assert len(served.requests) == 230
    assert found[:2] == found[2:]
    one, four = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
        for name in ("one", "four")
    )
    assert len(one) == 115
    assert one == four


def test_trouble_of_one_question_at_once_ends_the_others_unasked(tmp_path):
    def answer(body):
        seed = body["seed"]
        return Answer("gone", 404) if seed == 0 else "[]"

    with scripted_endpoint(answer) as served:
        options = read_preset("gelda", {"rounds": 40})
        with pytest.raises(LanguageModelError, match="404"):
            propose(Endpoint(served.url, "m"), CAPTION, options, at_once=4)
        assert len(served.requests) < 40
