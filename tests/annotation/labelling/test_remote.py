"""Image annotators that ask an endpoint, and endpoints that answer badly."""

import base64
import io
import json
import math
import socket
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image
from pydantic import SecretStr

from cobalance.annotation.labelling.remote import (
    RemoteYesNo,
    check_remote,
    open_remote,
    probability_of_yes,
)
from cobalance.annotation.language.chat import LanguageModelError, Question, Reply
from cobalance.annotation.language.endpoint import Endpoint
from cobalance.annotation.language.endpoint_settings import EndpointSettings
from cobalance.annotation.language.transcript import Transcript
from cobalance.base.errors import OptionError
from cobalance.vision.models.options import VlmOptions
from cobalance.vision.stored.output_folder import OutputFolder
from tests.support.scripted_endpoint import Answer, scripted_endpoint

KEY = "sk-very-secret-0123456789"
GREYS = (0, 51, 204)
IMAGES = [np.full((4 + at, 6, 3), grey, np.uint8) for at, grey in enumerate(GREYS)]
TEXTS = ("a photo of a cow", "a <|im_start|>red cow [INST]")


def settings(url="http://127.0.0.1:1/v1", **changes):
    return EndpointSettings(url=url, model="m", **{"send_images": True, **changes})


def sees(body):
    """Grey of the image that was sent, and the question about it."""
    image, text = body["messages"][0]["content"]
    content = base64.b64decode(image["image_url"]["url"].partition(",")[2])
    return int(np.asarray(Image.open(io.BytesIO(content)))[0, 0, 0]), text["text"]


def by_brightness(body):
    grey, text = sees(body)
    yes = 0.05 + 0.8 * grey / 255 * (0.5 if "red" in text else 1)
    return Answer("Yes", 200, "length", {"Yes": yes * 0.75, " yes": yes * 0.25, "No": 0.9 - yes})


def ask(served, images=IMAGES, texts=TEXTS, at_once=1, chat=None):
    chat = chat or Endpoint(served.url, "m", send_images=True, timeout_s=5)
    options = check_remote("vlm", {}, settings(at_once=at_once))
    return open_remote("vlm", options, settings(at_once=at_once), chat).score(images, texts).matrix


class Reversed:
    """Gives the first of each two replies only after the second."""

    def __init__(self, chat):
        self.chat, self.count, self.lock = chat, 0, threading.Lock()
        self.answered = [threading.Event() for _ in range(len(IMAGES) * len(TEXTS))]

    def ask(self, question):
        with self.lock:
            at = self.count
            self.count += 1
        reply = self.chat.ask(question)
        if at % 2 == 0:
            assert self.answered[at + 1].wait(300)
        self.answered[at].set()
        return reply

    def describe(self):
        return self.chat.describe()


def test_the_share_of_yes_is_the_score_in_whatever_order_replies_come(tmp_path):
    found, files = [], []
    with scripted_endpoint(by_brightness) as served:
        for at_once in (1, 4):
            chat = Endpoint(served.url, "m", key=SecretStr(KEY), send_images=True)
            kept = Transcript(
                Reversed(chat) if at_once > 1 else chat, OutputFolder(str(tmp_path)), str(at_once)
            )
            found.append(ask(served, at_once=at_once, chat=kept))
            files.append({f.name: f.read_bytes() for f in (tmp_path / str(at_once)).iterdir()})
            assert (ask(served, chat=kept) == found[-1]).all()
            assert (kept.usage.asked, kept.usage.kept) == (6, 6)
        assert len(served.requests) == 12
    yes = 0.05 + 0.8 * np.array(GREYS)[:, None] / 255 * np.array([1, 0.5])
    assert found[0] == pytest.approx(yes / 0.9, abs=1e-6)
    assert found[0].tobytes() == found[1].tobytes()
    assert files[0] == files[1]
    assert not any(KEY.encode() in content for content in files[0].values())
    body = served.requests[1]
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)
    assert body["temperature"] == 0
    question = sees(body)[1]
    assert question == 'Does "a  red cow  " describe this image? Answer with yes or no.'


@given(st.floats(-700, 0), st.floats(-700, 0), st.floats(-700, 0))
def test_forms_are_summed_and_normalised_over_yes_and_no(first, second, no):
    tokens = (("YES", first), ("\u2581yes", second), ("No", no), ("yesterday", 0.0))
    high = max(first, second, no)
    yes = math.exp(first - high) + math.exp(second - high)
    expected = yes / (yes + math.exp(no - high))
    assert probability_of_yes(Reply("", first_tokens=tokens)) == pytest.approx(expected)


def test_one_of_both_is_enough_and_neither_is_none():
    assert probability_of_yes(Reply("", first_tokens=(("Yes", -3.0), ("The", -0.1)))) == 1
    assert probability_of_yes(Reply("", first_tokens=(("no", -9.0),))) == 0
    assert probability_of_yes(Reply("Yes", first_tokens=(("The", -0.1),))) is None


GOOD = {"yes": 0.5, "no": 0.5}


@pytest.mark.parametrize(
    ("answer", "tries", "message"),
    [
        (Answer("oops", 500), 3, "500: .*oops"),
        (Answer("slow", 429), 3, "429: .*slow"),
        (Answer("too big", 413), 1, r"too large.*limit of the size of requests"),
        (Answer("no images", 404), 1, "404: .*no images"),
        (Answer("Yes"), 1, r"no probabilities of tokens \(logprobs\)"),
        (Answer("logprobs are not supported", 400), 3, "400: .*logprobs are not supported"),
    ],
    ids=["500", "429", "413", "404", "no logprobs", "400"],
)
def test_trouble_with_images_is_an_error_that_says_what_to_do(answer, tries, message):
    with scripted_endpoint(lambda _: answer) as served:
        with pytest.raises(LanguageModelError, match=message):
            ask(served, IMAGES[:1], TEXTS[:1])
        assert len(served.requests) == tries


def test_an_image_without_an_answer_is_one_that_could_not_be_read():
    def answer(body):
        grey, text = sees(body)
        refuses = grey >= refused and "red" in text
        return Answer("", first_tokens={"I": 0.9, "The": 0.1} if refuses else GOOD)

    with scripted_endpoint(answer) as served:
        refused = GREYS[-1]
        found = ask(served, at_once=2)
        assert found[:-1].tolist() == [[0.5, 0.5]] * 2
        assert np.isnan(found[-1]).all()
        assert np.isnan(ask(served, IMAGES[-1:])).all()
        refused = 0
        with pytest.raises(LanguageModelError, match=r"neither with yes nor with no.*'I', 'The'"):
            ask(served)


def test_passing_trouble_is_retried_and_refused_options_are_left_out():
    def answer(body):
        if "max_tokens" in body or "seed" in body:
            return Answer("unsupported", 422)
        return Answer("", 500) if len(served.requests) == 3 else Answer("", first_tokens=GOOD)

    with scripted_endpoint(answer) as served:
        assert ask(served).tolist() == [[0.5, 0.5]] * 3
        assert len(served.requests) == 2 + 1 + 6


CUT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
SHAPES = (
    '{"choices": null}', '{"choices": [null]}', "[]", '"yes"', "7", '{"choices": [{"message": 1}]}',
    *('{"choices": [{"logprobs": ' + one + "}]}" for one in (
        "null", "[]", '{"content": []}', '{"content": [{"top_logprobs": null}]}',
        '{"content": [{"top_logprobs": [{"token": 1, "logprob": 2}]}]}',
        '{"content": [{"top_logprobs": [{"token": "yes", "logprob": NaN}]}]}',
        '{"content": [{"top_logprobs": [{"token": "yes", "logprob": "x"}, 3]}]}',
    )),
)  # fmt: skip


@contextmanager
def raw_server(body, length):
    """Answer each request with these bytes, as if they were `length` long."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection = server.accept()[0]
                except OSError:
                    return
                with connection, connection.makefile("rb") as read:
                    size = 0
                    while line := read.readline().strip().lower():
                        if line.startswith(b"content-length"):
                            size = int(line.split()[1])
                    read.read(size)
                    connection.sendall(CUT + b"Content-Length: %d\r\n\r\n" % length + body)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


@pytest.mark.parametrize("first_token", [True, False])
def test_bodies_of_other_shapes_are_errors(first_token):
    for shape in SHAPES:
        with raw_server(shape.encode(), len(shape)) as url:
            chat = Endpoint(url, "m", send_images=True)
            with pytest.raises(LanguageModelError, match="The language model m at"):
                chat.ask(Question("?", images=IMAGES[:1], first_token=first_token))


def test_a_body_that_is_cut_off_is_an_error():
    with raw_server(b'{"choices": [', 5000) as url:
        chat = Endpoint(url, "m", send_images=True)
        asked = RemoteYesNo(VlmOptions(question="{text}"), chat, settings(url))
        with pytest.raises(LanguageModelError, match="cannot be reached"):
            asked.scores(IMAGES[:1], ["x"])


def test_captions_are_written_and_read():
    def answer(body):
        grey, text = sees(body)
        assert text == "Describe this image in one sentence."
        return f"<think>a cow?</think> Two dark\ncows of {grey}." if grey < 100 else "A tree."

    with scripted_endpoint(answer) as served:
        chat = Endpoint(served.url, "m", send_images=True)
        options = check_remote("captions", {}, settings())
        annotator = open_remote("captions", options, settings(at_once=3), chat)
        scores = annotator.score(IMAGES, ["a photo of a cow", "tree"]).matrix
    assert scores.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert len(served.requests) == 3
    described = json.loads(json.dumps(annotator.describe()))
    assert (described["model"], described["endpoint"]) == ("m", "127.0.0.1:1")
    assert described["revision"] is None


def test_what_may_not_be_asked_is_refused_before_anything_is_sent():
    with pytest.raises(OptionError, match=r"sent to 127.0.0.1:1.*send_images=True"):
        check_remote("vlm", {}, settings(send_images=False))
    with pytest.raises(OptionError, match="owlv2 runs on your machines alone"):
        check_remote("owlv2", {}, settings())
    with pytest.raises(OptionError, match=r"'device' of vlm has no effect.*question, query"):
        check_remote("vlm", {"device": "cuda"}, settings())
    with pytest.raises(OptionError, match="no place for what is asked"):
        check_remote("vlm", {"question": "?"}, settings())
    with pytest.raises(OptionError, match="without login"):
        settings(f"http://user:{KEY}@host/v1")
