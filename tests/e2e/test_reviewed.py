"""Runs that a model reviews first: what its word does to them, and what it is not told."""
import base64
import json
import os
import signal
import subprocess

import pytest

from box import BUILD, Terminal, batch, descendants, glovebox, run_json, running, until
from test_review import Server


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def reviewed(server, answer, code, *options, **kwargs):
    return run_json(code, "--review", server.url(answer), "--review-model", "m", *options, **kwargs)


def sent(server):
    return b"".join(base64.b64decode(r["raw"]) for r in server.requests()).decode()


def test_what_it_finds_secure_runs(server):
    result = reviewed(server, "good", "print('ran')")
    assert (result["status"], result["stdout"]) == ("ok", "ran\n")
    review = result["review"]
    assert (review["verdict"], review["reason"]) == ("secure", "adds two numbers")
    assert review["model"] == "reviewer-2" and review["tokens"]["total"] == 120
    assert review["ms"] > 0 and review["attempts"] == 1 and review["error"] is None


@pytest.mark.parametrize("answer, verdict, why", [
    ("insecure", "insecure", "the reviewer objects: line 1 reads a key"),
    ("no_reason", "insecure", "the reviewer objects"),
    ("404", "failed", "the review failed"),
    ("not_json", "failed", "the review failed"),
])
def test_everything_else_does_not(server, answer, verdict, why):
    result = reviewed(server, answer, "print('ran')")
    assert (result["status"], result["exit_code"], result["stdout"]) == ("rejected", 126, "")
    [finding] = result["findings"]
    assert finding["rule"] == "review" and finding["message"].startswith(why)
    assert result["review"]["verdict"] == verdict


@pytest.mark.parametrize("answer, verdict, tokens", [
    ("good", "secure", 120), ("insecure", "insecure", 120), ("404", "failed", None),
])
def test_the_audit_has_the_review(server, tmp_path, answer, verdict, tokens):
    audit = tmp_path / "audit.jsonl"
    result = reviewed(server, answer, "print('ran')", "--audit", audit)
    [event] = [e for e in map(json.loads, audit.read_text().splitlines())
               if e["event"] == "reviewed"]
    assert (event["verdict"], event["model"]) == (verdict, result["review"]["model"])
    assert event["attempts"] == 1 and event["ms"] > 0 and event["reason"]
    assert event.get("tokens", {}).get("total") == tokens
    assert None not in event.values() and "error" not in event


def test_nothing_of_it_runs_meanwhile(server, tmp_path):
    tmp_path.chmod(0o777)
    mark = tmp_path / "mark"
    result = reviewed(server, "insecure", f"open({str(mark)!r}, 'w').close()", "--isolation",
                      "process", "--acknowledge-unsafe", "--policy", "off")
    assert result["status"] == "rejected" and not mark.exists()


@pytest.mark.parametrize("url, say", [
    ("foo", "review: not a URL"), ("ftp://x", "neither https nor http"), ("https://", "not a URL"),
    ("", "--review: must not be empty"), ("https://me:pw@host/v1", "password"),
])
def test_a_reviewer_that_cannot_be_one_is_a_mistake_of_the_operators(url, say):
    """And not the program's: the command line is wrong, nothing is rejected."""
    done = glovebox("run", "--review", url, "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (2, "") and say in done.stderr
    done = glovebox("batch", "--review", url, "-", input='{"code": "1"}\n')
    assert (done.returncode, done.stdout) == (2, "") and say in done.stderr


@pytest.mark.parametrize("key, url, say", [
    ("a b", "https://host/v1", "GLOVEBOX_REVIEW_KEY"), ("k", "http://host/v1", "unencrypted"),
])
def test_a_key_that_cannot_be_one(key, url, say):
    result = run_json("1", "--review", url, env={"GLOVEBOX_REVIEW_KEY": key})
    assert (result["status"], result["exit_code"]) == ("failed", 2)
    assert say in result["error"]["message"] + result["error"]["hint"]


def test_nobody_there():
    result = run_json("print('ran')", "--review", "http://127.0.0.1:1/v1", timeout=60)
    assert (result["status"], result["stdout"]) == ("rejected", "")
    [finding] = result["findings"]
    assert finding["rule"] == "review" and "operator" in finding["remedy"]
    assert finding["message"].startswith("the review failed: ")
    assert finding["message"].endswith("; the program was not judged")


def test_all_that_decides_what_runs_is_sent(server, tmp_path):
    """And nothing else: what the operator sets in the environment may be secret."""
    prelude = tmp_path / "prelude.py"
    prelude.write_text("shown_prelude = 1")
    stdin = tmp_path / "stdin"
    stdin.write_text("shown_stdin")
    result = reviewed(server, "good", "print('shown_code')", "--prelude", prelude, "--stdin", stdin,
                      "--input", 'a="shown_input"', "-e", "A=hidden_env", "--", "shown_argument",
                      env={"GLOVEBOX_REVIEW_KEY": "sk-hidden-key"})
    assert result["status"] == "ok"
    said = sent(server)
    for what in ("code", "prelude", "stdin", "input", "argument"):
        assert f"shown_{what}" in said
    assert "hidden" not in said
    headers = dict(server.requests()[0]["headers"])
    assert headers["Authorization"] == "Bearer sk-hidden-key"
    assert "sk-hidden" not in json.dumps(result)


def test_what_does_not_pass_the_check_is_not_sent(server):
    assert reviewed(server, "good", "def f(:")["status"] == "rejected"
    assert reviewed(server, "good", "import socket", "--block-import", "socket")["findings"][0][
        "rule"] != "review"
    assert server.requests() == []


def test_a_check_is_not_reviewed(server, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"review": server.url("insecure")}))
    assert glovebox("check", "--config", config, "-c", "1").returncode == 0
    assert server.requests() == []


def test_a_person_sees_what_the_reviewer_said(server):
    with Terminal("run", "--review", server.url("good"), "--approve", "ask", "-c", "1") as t:
        assert "review  secure: adds two numbers" in t.shows("why not: ")
        t.types("n\n")
        assert t.ends()[0] == 126


def test_the_clock_of_the_program_does_not_run_meanwhile(server):
    result = reviewed(server, "429_once", "print('ran')", "-t", "0.6")  # it answers in a second
    assert (result["status"], result["stdout"]) == ("ok", "ran\n")
    assert result["review"]["ms"] > 900 and result["usage"]["wall_ms"] < 900


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGKILL])
def test_ending_while_it_is_reviewed(server, sig):
    with running("run", "--review", server.url("hang"), "-c", "print('ran')") as process:
        assert until(lambda: len(server.requests()) > 0)
        below = set(descendants(process.pid))
        os.kill(process.pid, sig)
        out, _ = process.communicate(timeout=20)
        assert out == "" and process.returncode in (130, -signal.SIGKILL)
        assert below and until(lambda: not below & set(descendants()))


def test_many_at_once(server):
    results = batch([{"id": i, "code": f"{i}"} for i in range(8)], "--review", server.url("good"),
                    "-j", "4")
    assert [(r["id"], r["value"], r["review"]["verdict"]) for r in results] == [
        (i, i, "secure") for i in range(8)]


def test_the_library_does_without_curl_until_it_is_asked():
    needed = subprocess.run(["readelf", "-d", BUILD / "libglovebox.so"], capture_output=True,
                            text=True, check=True).stdout
    assert "libcurl" not in needed
