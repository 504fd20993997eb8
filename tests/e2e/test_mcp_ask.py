"""Approval over MCP: the client's user is asked, in either era, and what they were asked about waits."""
import base64

import pytest

import box
import mcp
from mcp import META, Client, Legacy, Modern

ASKS = ("--approve", "always")
FORM = {"elicitation": {}}
CODE = "print('ran')\n6 * 7"
CALL = {"name": "execute_code", "arguments": {"code": CODE}}
YES = {"action": "accept", "content": {"approve": True}}


def approve(client, answer):
    """Call, and answer the question; what became of it, and the question."""
    if client.era == "legacy":
        id = client.begin("tools/call", CALL)
        question = client.message()
        assert question["method"] == "elicitation/create"
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})
        return client.answer(id)["result"], question["params"]
    first = client.request("tools/call", CALL)["result"]
    assert first["resultType"] == "input_required"
    question = first["inputRequests"]["approve"]
    assert question["method"] == "elicitation/create"
    done = client.request("tools/call", {**CALL, "inputResponses": {"approve": answer},
                                         "requestState": first["requestState"]})
    return done["result"], question["params"]


@pytest.fixture(params=[Legacy, Modern], ids=["legacy", "modern"])
def client(request):
    with request.param(*ASKS, capabilities=FORM) as one:
        yield one


def test_yes(client):
    result, question = approve(client, YES)
    assert result["structuredContent"]["value"] == 42 and result["isError"] is False
    assert CODE in question["message"] and "held in a box" in question["message"]
    assert question["requestedSchema"]["properties"]["approve"]["type"] == "boolean"
    if client.era == "modern":
        assert result["resultType"] == "complete"


@pytest.mark.parametrize("answer, word", [
    ({"action": "decline"}, "declined"), ({"action": "cancel"}, "dismissed"), ({}, "dismissed"),
    ({"action": "accept"}, "declined"), ({"action": "accept", "content": {"approve": False}}, "declined"),
    ({"action": "accept", "content": {"approve": "yes"}}, "declined"),
    ({"action": ["accept"], "content": {"approve": True}}, "dismissed"),
])
def test_anything_but_a_plain_yes_is_a_no(client, answer, word):
    result, _ = approve(client, answer)
    assert result["isError"] is True and result["structuredContent"]["status"] == "rejected"
    assert word in result["content"][0]["text"] and "stdout" not in result["structuredContent"]


@pytest.mark.parametrize("tool, key, text, shown", [
    ("execute_code", "code", "a = 1 # \u202e \u200b\nb = 2 # \x1b[2K", "\na = 1 # \\u{202e} \\u{200b}\nb = 2 # \\x1b[2K"),
    ("run_shell", "command", "rm -rf x #\r\x1b[2Kecho ok", "\nrm -rf x #\\x0d\\x1b[2Kecho ok"),
])
def test_nothing_is_hidden_from_whoever_is_asked(tool, key, text, shown):
    with Legacy(*ASKS, "--policy", "off", capabilities=FORM) as client:
        client.begin("tools/call", {"name": tool, "arguments": {key: text}})
        assert client.message()["params"]["message"].endswith(shown)


@pytest.mark.parametrize("kind", [Legacy, Modern])
@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}, {"elicitation": {"url": {}}}])
def test_a_client_that_cannot_ask_is_told_what_to_do(kind, capabilities):
    with kind(*ASKS, capabilities=capabilities) as client:
        result = client.call("execute_code", code="1")
        assert result["structuredContent"]["status"] == "rejected"
        assert "--approve never" in result["content"][0]["text"]


def test_unboxed_code_is_asked_about_by_default():
    with Legacy("--isolation", "process", capabilities=FORM) as client:
        id = client.begin("tools/call", CALL)
        question = client.message()
        assert "Nothing holds it" in question["params"]["message"]
        client.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}})
        assert client.answer(id)["result"]["structuredContent"]["status"] == "rejected"


def test_others_run_while_one_waits_for_its_answer(client):
    first = client.begin("tools/call", CALL)
    waiting = client.message()
    with_answer, _ = approve(client, YES)
    assert with_answer["structuredContent"]["value"] == 42
    if client.era == "legacy":
        client.send({"jsonrpc": "2.0", "id": waiting["id"], "result": YES})
        assert client.answer(first)["result"]["structuredContent"]["value"] == 42


def test_many_may_wait_though_one_runs_at_a_time():
    with Legacy("-j", "1", *ASKS, capabilities=FORM) as client:
        calls = [client.begin("tools/call", CALL) for _ in range(5)]
        questions = [client.message()["id"] for _ in calls]
        for question in questions:
            client.send({"jsonrpc": "2.0", "id": question, "result": YES})
        assert {client.message()["id"] for _ in calls} == set(calls)


def test_cancelling_while_it_is_asked_about():
    with Legacy(*ASKS, capabilities=FORM) as client:
        id = client.begin("tools/call", CALL)
        question = client.message()
        client.notify("notifications/cancelled", {"requestId": id})
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": YES})
        assert client.is_quiet()


def test_answers_that_nobody_asked_for():
    with Legacy(*ASKS, capabilities=FORM) as client:
        id = client.begin("tools/call", CALL)
        question = client.message()["id"]
        for wrong in (question + 1, str(question), -1):
            client.send({"jsonrpc": "2.0", "id": wrong, "result": YES})
        assert client.is_quiet()
        client.send({"jsonrpc": "2.0", "id": question, "result": YES})
        assert client.answer(id)["result"]["structuredContent"]["value"] == 42
        client.send({"jsonrpc": "2.0", "id": question, "result": YES})
        assert client.is_quiet()


# ---- requestState ----

@pytest.fixture
def modern():
    with Modern(*ASKS, capabilities=FORM) as one:
        yield one


def park(client):
    return client.request("tools/call", CALL)["result"]["requestState"]


def resume(client, state, **changes):
    params = {**CALL, "inputResponses": {"approve": YES}, "requestState": state, **changes}
    return client.request("tools/call", params)


def test_the_state_is_good_once(modern):
    state = park(modern)
    assert resume(modern, state)["result"]["structuredContent"]["value"] == 42
    again = resume(modern, state)["error"]
    assert again["code"] == -32602 and "used already" in again["message"]


def test_the_state_is_good_for_the_same_request_alone(modern):
    state = park(modern)
    for changes in ({"arguments": {"code": "print('other')"}}, {"arguments": {**CALL["arguments"], "timeout": 1}},
                    {"extra": 1}):
        assert resume(modern, state, **changes)["error"]["code"] == -32602
    assert resume(modern, state)["result"]["structuredContent"]["value"] == 42


def test_every_bit_of_the_state_counts(modern):
    state = park(modern)
    raw = bytearray(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4)))
    for at in range(len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 1 << at % 8
        text = base64.urlsafe_b64encode(changed).decode().rstrip("=")
        assert resume(modern, text)["error"]["code"] == -32602, at
    for wrong in ("", state[:-1], state + "A", state + "=", state + "-TAMPERED", "x" * len(state), " " + state,
                  state.swapcase(), 1, None, [state], {"a": state}):
        assert resume(modern, wrong)["error"]["code"] == -32602, wrong
    # the last character has bits that encode nothing
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twin = state[:-1] + letters[letters.index(state[-1]) ^ 1]
    assert resume(modern, twin)["error"]["code"] == -32602
    assert resume(modern, state)["result"]["structuredContent"]["value"] == 42


def test_a_state_of_another_server_is_none():
    with Modern(*ASKS, capabilities=FORM) as other:
        state = park(other)
        with Modern(*ASKS, capabilities=FORM) as client:
            assert resume(client, state)["error"]["code"] == -32602


def test_an_old_state_is_none_and_its_box_is_gone():
    with Modern(*ASKS, "--ask-timeout", "0.3", "--pool", "1", capabilities=FORM) as client:
        state = park(client)
        assert client.is_quiet(0.6)
        error = resume(client, state)["error"]
        assert error["code"] == -32602 and "too old" in error["message"]


def test_a_question_that_nobody_answers():
    with Legacy(*ASKS, "--ask-timeout", "0.3", capabilities=FORM) as client:
        id = client.begin("tools/call", CALL)
        question = client.message()
        error = client.answer(id)["error"]
        assert error["code"] == -32603 and "in time" in error["message"]
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": YES})
        assert client.is_quiet()


def test_answers_that_are_missing_are_asked_for_again(modern):
    state = park(modern)
    for responses in ({}, {"other": YES}, {"approve": 5}, {"approve": None}):
        again = resume(modern, state, inputResponses=responses)["result"]
        assert again["resultType"] == "input_required" and again["requestState"] != state
        assert set(again["inputRequests"]) == {"approve"}
        state = again["requestState"]
    for responses in (None, [], 5, "x"):
        assert resume(modern, state, inputResponses=responses)["error"]["code"] == -32602
    done = resume(modern, state, inputResponses={"approve": YES, "other": 1})
    assert done["result"]["structuredContent"]["value"] == 42


def test_an_answer_without_a_question_approves_nothing(modern):
    done = modern.request("tools/call", {**CALL, "inputResponses": {"approve": YES}})["result"]
    assert done["resultType"] == "input_required"


def test_progress_of_what_was_resumed_goes_to_the_second_request(modern):
    call = {"name": "execute_code", "arguments": {"code": "print('x')\nimport time; time.sleep(0.3)"}}
    first = modern.request("tools/call", call, {"progressToken": "one"})["result"]
    done = modern.request("tools/call", {**call, "inputResponses": {"approve": YES},
                                         "requestState": first["requestState"]}, {"progressToken": "two"})
    assert done["result"]["isError"] is False
    assert {m["params"]["progressToken"] for m in modern.seen} == {"two"}


def test_so_many_may_wait_and_no_more():
    with Modern(*ASKS, "--memory", "64M", capabilities=FORM) as client:
        results = [client.request("tools/call", CALL)["result"] for _ in range(30)]
        assert {r["resultType"] for r in results} == {"input_required"}
        assert len({r["requestState"] for r in results}) == 30
        last = resume(client, results[7]["requestState"])
        assert last["result"]["structuredContent"]["value"] == 42


def test_what_is_parked_ends_with_the_client(modern):
    park(modern)
    status, _, seconds = modern.end()
    assert status == 0 and seconds < 3
    assert box.nothing_left() == {}


def test_a_client_of_both_eras_is_asked_as_it_asks():
    with Client(*ASKS) as client:
        client.initialize(FORM)
        done = client.ask("tools/call", {**CALL, "_meta": mcp.meta()})["result"]
        assert done["structuredContent"]["status"] == "rejected"  # what the handshake said does not count
        done = client.ask("tools/call", {**CALL, "_meta": mcp.meta(FORM)})["result"]
        assert done["resultType"] == "input_required" and META + "serverInfo" in done["_meta"]


def test_boxes_that_wait_for_an_answer_have_a_number():
    """Each of them is a box that is there already: a client that never answers would fill the host with them."""
    with Legacy(*ASKS, "-j", "2", capabilities=FORM) as client:
        ids = [client.begin("tools/call", CALL) for _ in range(300)]
        questions = []
        while (line := client.line(3)) is not None:
            questions.append(mcp.json.loads(line)["id"])
        assert len(questions) == 256 + 2
        for id in questions[:100]:
            client.send({"jsonrpc": "2.0", "id": id, "result": {"action": "decline"}})
        answered = 0
        while answered < 100:  # the others have their turn then
            answered += "method" not in client.message()
        client.notify("notifications/cancelled", {"requestId": ids[-1]})


# ---- what is asked about before any box is there ----

@pytest.mark.parametrize("tool, arguments", [
    ("write_file", {"path": "a.py", "text": "x"}), ("run_shell", {"command": "true"}),
    ("execute_code", {"code": "1"}), ("write_file", {"path": "a.py", "text": "x" * 80000}),
])
@pytest.mark.parametrize("isolation", ["auto", "process"])
@pytest.mark.parametrize("capabilities", [{}, FORM], ids=["mute", "asks"])
def test_a_question_that_cannot_be_asked_is_a_no(tool, arguments, isolation, capabilities):
    """In a session, nothing waits for a box first: the engine asks while it is being told to start."""
    with Legacy(*ASKS, "--isolation", isolation, capabilities=capabilities) as client:
        id = client.begin("tools/call", {"name": tool, "arguments": {**arguments, "session": "new"}})
        message = client.message()
        if "method" in message:  # the user is asked, and says no
            client.send({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}})
            message = client.message()
        assert message["id"] == id and "not approved" in message["result"]["content"][0]["text"]
        assert client.call("list_files", session="sess-none")["isError"] is True  # it lives
