"""The reviewer, asked over real connections from a server that misbehaves in every way we know."""
import base64
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

import box

CLIENT = box.BUILD / "tests/e2e/review_client"
SERVER = Path(__file__).with_name("review_server.py")
KEY = "sk-test-0123456789abcdef"
CODE = "import os\nprint('h\u00e9llo', 40 + 2)\n"
VERDICT_KEYS = {"secure", "reason", "model", "attempts", "tokens", "ms", "detail", "error"}
QUICK = {"timeout_ms": 400, "backoff_ms": 20}


class Server:
    """review_server.py, running."""

    def __init__(self, cert=None):
        words = [box.PYTHON, str(SERVER), *map(str, cert or ())]
        self.cert = cert
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, answer, host="127.0.0.1", scheme=None):
        return f"{scheme or ('https' if self.cert else 'http')}://{host}:{self.port}/{answer}/v1"

    def requests(self):
        if self.cert:
            context = ssl._create_unverified_context()
            link = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=30)
        else:
            link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        link.request("GET", "/requests")
        found = json.loads(link.getresponse().read())
        link.close()
        return found

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def serve():
    servers = []

    def start(cert=None):
        servers.append(Server(cert))
        return servers[-1]
    yield start
    for server in servers:
        server.close()


@pytest.fixture
def server(serve):
    return serve()


def ask_all(url, env=None, **spec):
    """What the client printed, one object a review."""
    spec = {"url": url, "code": CODE, "model": "reviewer", "module_dir": str(box.BUILD),
            "timeout_ms": 30000, "backoff_ms": 20, **spec}
    done = subprocess.run([CLIENT], input=json.dumps(spec), env={**box.ENV, **(env or {})},
                          capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr)
    if spec.get("key"):
        assert spec["key"] not in done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask(url, **spec):
    verdict, = ask_all(url, **spec)
    return verdict


def reviewed(url, **spec):
    """A verdict that a reviewer gave."""
    verdict = ask(url, **spec)
    assert set(verdict) == VERDICT_KEYS
    assert verdict["error"] is None, verdict["error"]
    assert verdict["ms"] > 0
    return verdict


def closed(url, **spec):
    """A verdict that none gave: the code does not run, and it says why."""
    verdict = ask(url, **spec)
    assert set(verdict) == VERDICT_KEYS, verdict
    assert verdict["secure"] is False
    assert verdict["error"] and verdict["error"] in verdict["reason"]
    assert verdict["detail"] is None
    return verdict


def refused(url, **spec):
    """What could not even begin."""
    answer = ask(url, **spec)
    assert set(answer) == {"failed", "hint", "type"}, answer
    return answer


# ---- verdicts ----

@pytest.mark.parametrize("answer, secure, reason", [
    ("good", True, "adds two numbers"),
    ("insecure", False, "line 1 reads a key"),
    ("no_reason", False, "the reviewer gave no reason"),
    ("fenced", True, "adds two numbers"),
    ("html_type", True, "adds two numbers"),
    ("http10", True, "adds two numbers"),
    ("in_pieces", True, "adds two numbers"),
    ("continue", True, "adds two numbers"),
])
def test_verdict(server, answer, secure, reason):
    verdict = reviewed(server.url(answer))
    assert (verdict["secure"], verdict["reason"], verdict["detail"]) == (secure, reason, None)
    assert (verdict["attempts"], verdict["model"]) == (1, "reviewer-2")
    assert verdict["tokens"] == {"prompt": 100, "completion": 20, "total": 120}


def test_richer_answers_are_kept(server):
    verdict = reviewed(server.url("rich"))
    assert verdict["secure"] is False
    assert verdict["detail"] == {"risk_level": "high",
                                 "rationale": ["uses os.environ", "sends it away"]}


def test_a_server_that_does_not_count(server):
    verdict = reviewed(server.url("no_usage"), model="asked-for")
    assert (verdict["tokens"], verdict["model"]) == (None, "asked-for")


# ---- what is sent ----

def test_only_the_code_is_sent(server):
    env = {"GLOVEBOX_REVIEW_KEY": "never-in-the-body", "SECRET_THING": "environment-value"}
    reviewed(server.url("good"), key=KEY, tools=["zeta", "alpha"], env=env)
    request, = server.requests()
    sent = base64.b64decode(request["raw"]).decode()
    assert request["path"] == "/good/v1/chat/completions"
    for secret in (KEY, "never-in-the-body", "environment-value", os.environ["HOME"]):
        assert secret not in sent

    headers = dict(request["headers"])
    assert headers.pop("Authorization") == f"Bearer {KEY}"
    assert headers.pop("User-Agent").startswith("glovebox/")
    assert headers.pop("Content-Length") == str(len(sent.encode()))
    assert headers == {"Host": f"127.0.0.1:{server.port}", "Content-Type": "application/json",
                       "Accept": "application/json"}

    body = request["body"]
    assert set(body) == {"model", "messages", "temperature", "response_format"}
    assert (body["model"], body["temperature"]) == ("reviewer", 0)
    system, user = body["messages"]
    assert (set(system), set(user)) == ({"role", "content"}, {"role", "content"})
    assert system["content"].endswith("\n- alpha\n- zeta\n")
    assert CODE not in system["content"]
    assert re.fullmatch(r"BEGIN (\w{32})\n(.*)\nEND \1\n", user["content"], re.S)[2] == CODE.rstrip("\n")


def test_code_cannot_know_its_marker(server):
    for _ in range(2):
        reviewed(server.url("good"))
    markers = {r["body"]["messages"][1]["content"].split()[1] for r in server.requests()}
    assert len(markers) == 2
    for request in server.requests():
        system, user = (m["content"] for m in request["body"]["messages"])
        assert user.split()[1] in system


@pytest.mark.parametrize("path", ["good/v1", "good/v1/", "good/v1/chat/completions"])
def test_base_or_whole_url(server, path):
    reviewed(f"http://127.0.0.1:{server.port}/{path}")
    assert server.requests()[0]["path"] == "/good/v1/chat/completions"


def test_a_query_stays(server):
    reviewed(server.url("good") + "?api-version=2")
    assert server.requests()[0]["path"] == "/good/v1/chat/completions?api-version=2"


def test_no_key_no_header_no_model(server, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password netrc-secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    reviewed(server.url("good"), key="", model=None, env={"HOME": str(tmp_path)})
    request, = server.requests()
    assert "Authorization" not in dict(request["headers"])
    assert "model" not in request["body"]


def test_proxies_of_the_environment_are_not_used(server):
    nowhere = "http://127.0.0.1:9"
    env = {name: nowhere for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                      "ALL_PROXY")}
    assert reviewed(server.url("good"), env=env)["secure"] is True


def test_large_code(server):
    code = "x = 'a\u20ac'\n" * (1 << 16)
    reviewed(server.url("good"), code=code)
    assert code in server.requests()[0]["body"]["messages"][1]["content"]


# ---- answers that are none ----

@pytest.mark.parametrize("answer, attempts, say", [
    ("not_json", 3, "gave no verdict: the reply is not a JSON object (3 attempts)"),
    ("empty", 3, "the reply is not a JSON object"),
    ("array", 3, "the reply is not a JSON object"),
    ("gzip", 3, "the reply is not a JSON object"),
    ("bad_utf8", 3, "the reply is not a JSON object"),
    ("no_choices", 3, "the reply has no choices"),
    ("no_content", 3, "the reply has no content"),
    ("prose", 3, "the verdict is not a JSON object"),
    ("list", 3, "the verdict is not a JSON object"),
    ("two_fences", 3, "the verdict is not a JSON object"),
    ("twice", 3, "the verdict is not a JSON object"),
    ("string_bool", 3, "is_secure is not true or false"),
    ("no_bool", 3, "is_secure is not true or false"),
    ("nested", 3, "is_secure is not true or false"),
    ("closes", 3, "(3 attempts)"),
    ("resets", 3, "(3 attempts)"),
    ("cut", 3, "(3 attempts)"),
    ("cut_headers", 3, ""),
    ("cut_chunks", 3, "(3 attempts)"),
    ("bad_chunks", 3, "(3 attempts)"),
    ("http09", 1, ""),
    ("not_http", 1, ""),
    ("created", 1, "answered 201"),
    ("nothing", 1, "answered 204"),
    ("huge", 1, "more than 64 KiB"),
    ("huge_unannounced", 1, "more than 64 KiB"),
    ("huge_chunked", 1, "more than 64 KiB"),
    ("huge_error", 1, "more than 64 KiB"),
    ("huge_headers", 1, "more than 64 KiB"),
    ("endless_continue", 1, "more than 64 KiB"),
    ("400", 2, "answered 400: it will not take the request (\"context too long\")"),
    ("401", 1, "answered 401: check the key in GLOVEBOX_REVIEW_KEY"),
    ("403", 1, "answered 403"),
    ("404", 1, "answered 404: check the URL and the name of the model (\"no such model\")"),
    ("429", 3, "answered 429: too many requests (\"slow down\") (3 attempts)"),
    ("429_long", 1, "asks to wait for 3600 s"),
    ("500", 3, "answered 500: it has a problem of its own (\"out of order\") (3 attempts)"),
    ("500_html", 3, "answered 502"),
    ("redirect", 1, "answered 307: a redirect"),
    ("redirect_file", 1, "answered 302: a redirect"),
])
def test_fails_closed(server, answer, attempts, say):
    verdict = closed(server.url(answer), key=KEY)
    asked = server.requests()
    assert say in verdict["error"]
    assert verdict["attempts"] == attempts == len(asked)
    assert {r["path"] for r in asked} == {f"/{answer}/v1/chat/completions"}  # none followed
    assert KEY[:12] not in verdict["error"]


@pytest.mark.parametrize("answer", ["huge", "huge_unannounced", "huge_chunked", "huge_headers"])
def test_a_flood_is_cut(server, answer):
    closed(server.url(answer))
    assert box.until(lambda: server.requests()[0].get("stopped"))


@pytest.mark.parametrize("answer", ["hang", "hang_late", "drip", "drip_body"])
def test_slow_answers(server, answer):
    verdict = closed(server.url(answer), **QUICK)
    assert f"did not answer within {QUICK['timeout_ms'] / 1000:g} s (3 attempts)" in \
        verdict["error"]
    assert verdict["attempts"] == 3
    assert verdict["ms"] >= 3 * QUICK["timeout_ms"]


def test_tokens_of_all_attempts_are_counted(server):
    assert closed(server.url("prose"))["tokens"]["total"] == 3 * 120
    assert reviewed(server.url("bad_once"))["tokens"]["total"] == 2 * 120


def test_connection_refused(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        verdict = closed(f"http://127.0.0.1:{port}/v1")
    assert f"the reviewer at 127.0.0.1:{port}" in verdict["error"]
    assert verdict["attempts"] == 3


def test_no_such_host():
    verdict = closed("http://reviewer.invalid/v1", **QUICK)
    assert "reviewer.invalid" in verdict["error"]
    assert verdict["attempts"] == 3


DEAF = """
#include <netdb.h>
#include <signal.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
    static const char taken[] = "the look-up would take the program's signals\\n";
    sigset_t held;

    (void)name, (void)service, (void)hints, (void)ret;
    (void)sigprocmask(SIG_SETMASK, NULL, &held);
    if (!sigismember(&held, SIGINT) || !sigismember(&held, SIGCHLD))
        (void)!write(2, taken, sizeof(taken) - 1);
    for (;;)
        (void)pause();
}
"""


def test_a_name_server_that_never_answers(tmp_path):
    """The thread that waits for it is left behind, and nobody waits for the thread."""
    (tmp_path / "deaf.c").write_text(DEAF)
    library = tmp_path / "deaf.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "deaf.c"], check=True)
    env = {"LD_PRELOAD": str(library),
           "ASAN_OPTIONS": box.ENV.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    verdict = closed("http://reviewer.example/v1", env=env, leaves=True, **QUICK)
    assert "did not answer within" in verdict["error"]
    cancelled = ask("http://reviewer.example/v1", env=env, leaves=True, cancel_ms=100)
    assert cancelled == {"cancelled": True}


# ---- again ----

@pytest.mark.parametrize("answer, spec", [
    ("500_once", {}), ("bad_once", {}), ("reset_once", {}), ("408_once", {}),
    ("hang_once", {"timeout_ms": 3000}),
])
def test_second_attempt_succeeds(server, answer, spec):
    verdict = reviewed(server.url(answer), **spec)
    assert (verdict["secure"], verdict["attempts"]) == (True, 2)
    assert len(server.requests()) == 2


@pytest.mark.parametrize("answer, seconds", [("429_once", 1), ("503_date_once", 1)])
def test_retry_after_is_respected(server, answer, seconds):
    assert reviewed(server.url(answer))["attempts"] == 2
    first, second = (r["at"] for r in server.requests())
    assert second - first >= seconds * 0.9


def test_waits_grow(server):
    closed(server.url("500"), attempts=4, backoff_ms=400)
    at = [r["at"] for r in server.requests()]
    gaps = [b - a for a, b in zip(at, at[1:])]
    for gap, least in zip(gaps, (0.2, 0.4, 0.8)):
        assert gap >= least * 0.95, gaps


def test_attempts_can_be_fewer(server):
    verdict = closed(server.url("500"), attempts=1)
    assert verdict["error"].endswith("(1 attempt)")
    assert len(server.requests()) == 1


@pytest.mark.parametrize("answer, left", [
    ("no_format", [{"temperature"}]),
    ("no_temperature", [{"response_format"}]),
    ("neither", [{"response_format"}, set()]),
    ("unknown_part", [set()]),
])
def test_servers_that_know_less(server, answer, left):
    verdict = reviewed(server.url(answer))
    optional = [set(r["body"]) - {"model", "messages"} for r in server.requests()]
    assert optional == [{"temperature", "response_format"}, *left]
    assert verdict["attempts"] == len(optional)


# ---- the key ----

@pytest.mark.parametrize("answer", ["says_key", "401", "403", "says_key_reason"])
def test_the_key_is_not_repeated(server, answer):
    verdict = ask(server.url(answer), key=KEY)  # ask() looks for it in all that was printed
    assert verdict["secure"] is False
    assert "says_key" not in answer or "[key]" in json.dumps(verdict)


def test_a_key_goes_unencrypted_only_to_this_host(server):
    for url in ("http://reviewer.example/v1", "http://10.0.0.1/v1", "http://[2001:db8::1]/v1"):
        answer = refused(url, key=KEY)
        assert "unencrypted" in answer["failed"] and "https" in answer["hint"]
    assert reviewed(server.url("good", host="localhost"), key=KEY)["secure"] is True
    assert dict(server.requests()[0]["headers"])["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["a b", "sk-1\r\nX-Evil: 1", "sk-\u00e9", "x" * 5000])
def test_keys_that_cannot_be_one(server, key):
    answer = ask_all(server.url("good"), key=key)[0]
    assert "key" in answer["failed"]
    assert server.requests() == []


# ---- TLS ----

def test_tls(serve, certs):
    server = serve(certs["good"])
    ca = str(certs["authority"][0])
    for host in ("127.0.0.1", "localhost"):
        assert reviewed(server.url("good", host=host), ca=ca, key=KEY)["secure"] is True
    assert dict(server.requests()[0]["headers"])["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("cert, ca, say", [
    ("good", None, "will not do"),            # the system does not know the authority
    ("good", "stranger", "will not do"),
    ("by_stranger", "authority", "will not do"),
    ("other_host", "authority", "will not do"),
    ("expired", "authority", "will not do"),
])
def test_certificates_that_will_not_do(serve, certs, cert, ca, say):
    server = serve(certs[cert])
    verdict = closed(server.url("good"), key=KEY, ca=ca and str(certs[ca][0]))
    assert say in verdict["error"] and "review_ca" in verdict["error"]
    assert verdict["attempts"] == 1
    assert server.requests() == []  # not a byte of the code left


@pytest.mark.parametrize("answer, say", [
    ("500", "answered 500"), ("hang", "did not answer"), ("drip_body", "did not answer"),
    ("cut", "(3 attempts)"), ("resets", "(3 attempts)"), ("huge", "more than 64 KiB"),
    ("huge_unannounced", "more than 64 KiB"), ("string_bool", "is_secure"),
])
def test_fails_closed_over_tls(serve, certs, answer, say):
    server = serve(certs["good"])
    spec = QUICK if "did not answer" in say else {}
    verdict = closed(server.url(answer), ca=str(certs["authority"][0]), **spec)
    assert say in verdict["error"]


def test_tls_to_a_plain_port(server):
    verdict = closed(server.url("good", scheme="https"), key=KEY)
    assert verdict["attempts"] == 3
    assert server.requests() == []


def test_plain_to_a_tls_port(serve, certs):
    server = serve(certs["good"])
    closed(server.url("good", scheme="http"), key=KEY, **QUICK)
    assert server.requests() == []


def test_silence_instead_of_a_handshake():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        verdict = closed(f"https://127.0.0.1:{listener.getsockname()[1]}/v1", **QUICK)
    assert "did not answer within 0.4 s" in verdict["error"]


# ---- what cannot begin ----

@pytest.mark.parametrize("url, say", [
    ("", "not a URL"), ("reviewer.example/v1", "not a URL"), ("ftp://a.example/", "https"),
    ("file:///etc/passwd", "https"), ("https://me:pw@a.example/", "password"),
])
def test_urls_that_will_not_do(url, say):
    answer = refused(url)
    assert say in answer["failed"] and answer["hint"]


def test_an_authority_that_is_not_there(tmp_path):
    assert "No such file" in refused("https://a.example/", ca=str(tmp_path / "none"))["failed"]


def test_an_authority_that_is_none(serve, certs, tmp_path):
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing\n")
    server = serve(certs["good"])
    closed(server.url("good"), ca=str(empty))
    assert server.requests() == []


def test_the_module_is_not_there(tmp_path):
    answer = refused("https://a.example/", module_dir=str(tmp_path))
    assert "glovebox-fetch.so" in answer["failed"] and "make install" in answer["hint"]


def test_libcurl_is_not_there(tmp_path):
    module = (box.BUILD / "glovebox-fetch.so").read_bytes()
    assert b"libcurl.so.4" in module
    (tmp_path / "glovebox-fetch.so").write_bytes(module.replace(b"libcurl.so.4", b"libcurl.so.X"))
    answer = refused("https://a.example/", module_dir=str(tmp_path))
    assert "libcurl.so.X" in answer["failed"]
    assert "apt-get install libcurl4" in answer["hint"]


def test_a_module_of_another_kind(tmp_path):
    (tmp_path / "glovebox-fetch.so").write_text("not a module")
    assert "glovebox-fetch.so" in refused("https://a.example/", module_dir=str(tmp_path))["failed"]
    source = tmp_path / "old.c"
    source.write_text("const struct { unsigned abi; } glovebox_fetch = { 0 };\n")
    (tmp_path / "glovebox-fetch.so").unlink()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "glovebox-fetch.so", source],
                   check=True)
    assert "another version" in refused("https://a.example/", module_dir=str(tmp_path))["failed"]


def test_the_library_does_not_load_libcurl():
    needed = subprocess.run(["ldd", box.BUILD / "libglovebox.so"], capture_output=True, text=True,
                            check=True).stdout
    assert "libevent" in needed and "curl" not in needed


# ---- several, and none ----

@pytest.mark.parametrize("answer", ["good", "500_once", "hang_once"])
def test_several_at_once(server, answer):
    verdicts = ask_all(server.url(answer), n=8, timeout_ms=3000)
    assert [v["secure"] for v in verdicts] == [True] * 8


@pytest.mark.parametrize("tls", [False, True])
def test_one_after_another_over_one_connection(serve, certs, tls):
    server = serve(certs["good"] if tls else None)
    spec = {"ca": str(certs["authority"][0]), "rounds": 4}
    for share, connections in ((False, 4), (True, 1)):
        before = len(server.requests())
        verdicts = ask_all(server.url("good"), share=share, **spec)
        assert [v["secure"] for v in verdicts] == [True] * 4
        assert len({r["from"] for r in server.requests()[before:]}) == connections


@pytest.mark.parametrize("answer", ["insecure", "closes", "cut", "500"])
def test_sharing_changes_no_verdict(server, answer):
    verdicts = ask_all(server.url(answer), n=3, rounds=2, share=True)
    assert [v["secure"] for v in verdicts] == [False] * 6


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("answer, spec", [
    ("hang", {}), ("drip_body", {}), ("500", {"backoff_ms": 30000}),
])
def test_cancelled(server, answer, spec, share):
    assert ask_all(server.url(answer), n=3, share=share, cancel_ms=500, **spec) == \
        [{"cancelled": True}]


@pytest.mark.parametrize("tls", [False, True])
def test_a_server_that_leaves_while_we_write(serve, certs, tls):
    """It costs an attempt, and not the program, which has SIGPIPE at its default."""
    server = serve(certs["good"] if tls else None)
    verdict = closed(server.url("early"), code="x = 1\n" * (1 << 18),
                     ca=str(certs["authority"][0]))
    assert verdict["attempts"] == 3
