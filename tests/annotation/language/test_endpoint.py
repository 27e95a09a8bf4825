import gzip
import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from cobalance.annotation.language import endpoint
from cobalance.annotation.language.chat import LanguageModelError, Question
from cobalance.annotation.language.endpoint import Endpoint
from cobalance.annotation.language.endpoint_settings import read_key
from cobalance.annotation.language.transcript import Transcript
from cobalance.base.errors import OptionError
from cobalance.vision.stored.output_folder import OutputFolder
from tests.support.scripted_endpoint import Answer, scripted_endpoint

KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object"}
IMAGE = np.zeros((2, 3, 3), np.uint8)


def script(*answers):
    """Answer with these, one after the other, and then with the last."""
    left = list(answers)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize(
    "trouble",
    [
        Answer("slow down", 429),
        Answer("oops", 500),
        Answer("[", finish_reason="length"),
        Answer(""),
    ],
    ids=["429", "500", "truncated", "empty"],
)
def test_passing_trouble_is_retried_and_lasting_trouble_is_an_error_after_three_tries(trouble):
    with scripted_endpoint(script(trouble, trouble, Answer("yes"))) as served:
        assert Endpoint(served.url, "m").ask(Question("?")).text == "yes"
        assert len(served.requests) == 3
    with scripted_endpoint(script(trouble)) as served:
        with pytest.raises(LanguageModelError, match="3 tries"):
            Endpoint(served.url, "m").ask(Question("?"))
        assert len(served.requests) == 3


def test_different_troubles_share_the_three_tries():
    answers = Answer("", 500), Answer("[", finish_reason="length"), Answer("", 429), Answer("yes")
    with scripted_endpoint(script(*answers)) as served, pytest.raises(LanguageModelError):
        Endpoint(served.url, "m").ask(Question("?"))
    assert len(served.requests) == 3


def test_a_schema_is_sent_and_left_out_once_the_server_refuses_it():
    def answer(body):
        return Answer("no schemas", 400) if "response_format" in body else "[1]"

    with scripted_endpoint(answer) as served:
        chat = Endpoint(served.url, "m")
        for round_ in range(2):
            assert chat.ask(Question("?", SCHEMA, 0.3, round_)).text == "[1]"
    first, second, third = served.requests
    assert first["response_format"]["json_schema"]["schema"] == SCHEMA
    assert "response_format" not in {**second, **third}
    assert (third["temperature"], second["seed"], third["seed"]) == (0.3, 0, 1)


def test_the_key_is_sent_alone_and_shown_nowhere(monkeypatch, tmp_path):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://from.the.environment")
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    with scripted_endpoint(script(Answer(f"echo {KEY}"), Answer(f"bad key {KEY}", 401))) as served:
        chat = Endpoint(served.url, "m", key=read_key(file))
        assert chat.ask(Question("?")).text == "echo ***"
        with pytest.raises(LanguageModelError, match="refuses the login") as raised:
            chat.ask(Question("?"))
        Endpoint(served.url, "m", key=SecretStr(KEY))
        with pytest.raises(LanguageModelError, match="key_file"):
            Endpoint(served.url, "m").ask(Question("?"))
    assert raised.value.__cause__ is None
    assert KEY not in f"{raised.value}{raised.value.args}{chat.describe()}{vars(chat)}"
    assert [one.get("authorization") for one in served.headers] == [*[f"Bearer {KEY}"] * 2, None]
    assert "from.the.environment" not in json.dumps(served.headers)


def test_images_are_sent_only_when_that_is_allowed():
    with scripted_endpoint(script("yes")) as served:
        with pytest.raises(OptionError, match="send_images"):
            Endpoint(served.url, "m").ask(Question("?", images=[IMAGE]))
        assert not served.requests
        Endpoint(served.url, "m", send_images=True).ask(Question("?", images=[IMAGE]))
    sent = served.requests[0]["messages"][0]["content"]
    assert sent[0]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert sent[1]["text"] == "?"


def test_a_server_that_never_answers_is_tried_three_times():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        chat = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "m", timeout_s=0.02)
        with pytest.raises(LanguageModelError, match="no answer in 3 tries"):
            chat.ask(Question("?"))
        silent.setblocking(False)
        for _ in range(3):
            silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_what_cannot_be_asked_says_what_to_do(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(LanguageModelError, match="cannot be reached"):
        Endpoint(f"http://127.0.0.1:{port}/v1", "m").ask(Question("?"))
    with scripted_endpoint(script(Answer("no model m", 404))) as served:
        with pytest.raises(LanguageModelError, match=r"404: .*no model m"):
            Endpoint(served.url, "m").ask(Question("?"))
        assert len(served.requests) == 1
    for url in ("api.example.org/v1", "http://user:word@host/v1"):
        with pytest.raises(OptionError, match="without login") as raised:
            Endpoint(url, "m")
        assert "word@" not in str(raised.value)
    (tmp_path / "empty").write_text("\n")
    for name in ("empty", "missing"):
        with pytest.raises(OptionError, match=name):
            read_key(Path(tmp_path / name))


def test_a_transcript_asks_nothing_twice_and_has_no_key(tmp_path):
    folder = OutputFolder(str(tmp_path))
    question = Question("What?", SCHEMA, 0.3, images=[IMAGE])
    with scripted_endpoint(lambda body: f"reply to seed {body['seed']} {KEY}") as served:
        for _ in range(2):  # as two processes would
            chat = Endpoint(served.url, "m", key=SecretStr(KEY), send_images=True)
            kept = Transcript(chat, folder, "annotations/r/replies")
            assert kept.ask(question).text == "reply to seed 0 ***"
            assert kept.ask(Question("What?", SCHEMA, 0.3, 1, images=[IMAGE])).tokens_out > 0
        assert len(served.requests) == 2
        assert (kept.usage.asked, kept.usage.kept) == (0, 2)
        assert kept.usage.tokens_in > kept.usage.tokens_out > 0
        files = sorted((tmp_path / "annotations/r/replies").iterdir())
        assert [len(file.stem) for file in files] == [64, 64]
        assert all(KEY not in file.read_text() for file in files)
        files[0].write_text('{"reply": ')  # as a full disk leaves it
        kept.ask(question)
        kept.ask(Question("What?", SCHEMA, 0.3, 1, images=[IMAGE]))
        assert len(served.requests) == 3


@contextmanager
def served(status, headers, body=b""):
    """A server that answers everything alike: its address, and what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status):
    with (
        served(200, {}) as (other, reached),
        served(status, {"Location": f"{other}/v1"}) as (address, asked),
        pytest.raises(LanguageModelError, match=f"redirects to {other}/v1, which is not"),
    ):
        Endpoint(address, "m", send_images=True).ask(Question("?", images=(IMAGE,)))
    assert (len(asked), reached) == (1, [])


def test_an_answer_that_unpacks_to_more_than_it_may_is_not_read(monkeypatch):
    monkeypatch.setattr(endpoint, "MOST_ANSWER_BYTES", 1_000)
    content = b'{"choices": [{"message": {"content": "' + b"yes" * 1_000
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    with (
        served(200, headers, gzip.compress(content, 1)) as (address, _),
        pytest.raises(LanguageModelError, match="its answer is longer than 1,000 bytes"),
    ):
        Endpoint(address, "m").ask(Question("?"))


def test_an_error_of_the_request_itself_is_no_bad_answer():
    with scripted_endpoint(script(Answer("yes"))) as served:
        with pytest.raises(ValueError, match="JSON compliant"):
            Endpoint(served.url, "m").ask(Question("?", temperature=float("nan")))
        assert not served.requests
