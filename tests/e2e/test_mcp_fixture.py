"""The server that suites of others are pointed at: the same core with everything that the protocol has."""
import pytest

import box
import mcp
from mcp import META, Legacy, Modern

COMMAND = [str(box.BUILD / "tests/mcp/mcp_fixture"), str(box.ROOT / "tests/mcp/fixture.json")]
ALL = {"elicitation": {}, "sampling": {}, "roots": {}}
NAME = {"action": "accept", "content": {"name": "Alice"}}
SAID = {"role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "m"}
ROOTS = {"roots": [{"uri": "file:///a"}]}
ANSWERS = {"elicitation/create": NAME, "sampling/createMessage": SAID, "roots/list": ROOTS}


@pytest.fixture(params=[Legacy, Modern], ids=["legacy", "modern"])
def client(request):
    with request.param(command=COMMAND, capabilities=ALL) as one:
        yield one


@pytest.fixture
def modern():
    with Modern(command=COMMAND, capabilities=ALL) as one:
        yield one


def answered(client, name, **arguments):
    """Call a tool, and answer whatever it asks; its result, and the methods that it asked by."""
    call, asked = {"name": name, "arguments": arguments}, []
    if client.era == "legacy":
        id = client.begin("tools/call", call)
        while True:
            message = client.message()
            if message.get("id") == id and "method" not in message:
                return message["result"], asked
            if "id" not in message:  # logging, or a list that changed
                continue
            asked.append(message["method"])
            client.send({"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS[message["method"]]})
    result = client.request("tools/call", call)["result"]
    while result["resultType"] == "input_required":
        asked += [r["method"] for r in result["inputRequests"].values()]
        responses = {key: ANSWERS[r["method"]] for key, r in result["inputRequests"].items()}
        result = client.request("tools/call", {**call, "inputResponses": responses,
                                               "requestState": result["requestState"]})["result"]
    return result, asked


def test_kinds_of_content(client):
    def kinds(name):
        return [block["type"] for block in client.call(name)["content"]]
    assert kinds("test_simple_text") == ["text"]
    assert kinds("test_image_content") == ["image"]
    assert kinds("test_audio_content") == ["audio"]
    assert kinds("test_embedded_resource") == ["resource"]
    assert kinds("test_multiple_content_types") == ["text", "image", "resource"]
    assert client.call("test_error_handling")["isError"] is True
    assert client.request("tools/call", {"name": "test_simple_text"})["result"]["content"]


def test_every_tool_answers(client):
    tools = client.request("tools/list")["result"]["tools"]
    assert len(tools) == 28 and all(tool["description"] for tool in tools)
    schema = next(t for t in tools if t["name"] == "json_schema_2020_12_tool")["inputSchema"]
    assert {"$schema", "$defs", "allOf", "if", "then", "else"} <= set(schema)
    assert schema["$defs"]["address"]["$anchor"] == "addressDef"
    for tool in tools:
        result, _ = answered(client, tool["name"], prompt="p", message="m", region="r")
        assert result["content"], tool["name"]


def test_progress_and_logging(client):
    level = {META + "logLevel": "info"} if client.era == "modern" else {}
    client.call("test_tool_with_progress", meta={"progressToken": "t"})
    assert [m["params"]["progress"] for m in client.seen] == [0, 50, 100]
    assert client.seen[0]["params"]["total"] == 100
    client.seen.clear()
    client.call("test_tool_with_logging", meta=level or None)
    assert [m["params"]["data"] for m in client.seen] == ["begun", "under way", "done"]


@pytest.mark.parametrize("name, methods", [
    ("test_elicitation", ["elicitation/create"]), ("test_sampling", ["sampling/createMessage"]),
    ("test_input_required_result_multiple_inputs", ["elicitation/create", "sampling/createMessage", "roots/list"]),
    ("test_input_required_result_multi_round", ["elicitation/create", "elicitation/create"]),
    ("test_elicitation_sep1330_enums", ["elicitation/create"]),
])
def test_asking(client, name, methods):
    result, asked = answered(client, name, message="Who?", prompt="Say")
    assert sorted(asked) == sorted(methods) and "Alice" in str(result) or "Hello" in str(result)


def test_only_what_the_client_can_is_asked(modern):
    call = {"name": "test_input_required_result_capabilities", "arguments": {}}
    meta = {META + "clientCapabilities": {"sampling": {}}}
    result = modern.request("tools/call", call, meta)["result"]
    assert [r["method"] for r in result["inputRequests"].values()] == ["sampling/createMessage"]
    error = modern.request("tools/call", {"name": "test_missing_capability"}, {META + "clientCapabilities": {}})["error"]
    assert error["code"] == -32021 and error["data"] == {"requiredCapabilities": {"sampling": {}}}


def test_an_answer_that_comes_along(modern):
    call = {"name": "test_input_required_result_elicitation", "arguments": {}}
    done = modern.request("tools/call", {**call, "inputResponses": {"user_name": NAME, "other": NAME}})["result"]
    assert done["resultType"] == "complete" and "Alice" in done["content"][0]["text"]
    for wrong in ({"wrong": NAME}, {"user_name": 5}):
        assert modern.request("tools/call", {**call, "inputResponses": wrong})["result"]["resultType"] == "input_required"
    assert modern.request("tools/call", {**call, "inputResponses": None})["error"]["code"] == -32602


def test_a_prompt_that_asks(modern):
    call = {"name": "test_input_required_result_prompt"}
    first = modern.request("prompts/get", call)["result"]
    assert first["resultType"] == "input_required" and set(first["inputRequests"]) == {"user_context"}
    state = first["requestState"]
    other = modern.request("tools/call", {"name": "test_simple_text", "requestState": state})
    assert other["error"]["code"] == -32602
    done = modern.request("prompts/get", {**call, "inputResponses": {"user_context": NAME}, "requestState": state})
    assert done["result"]["messages"][0]["role"] == "user"


def test_prompts(client):
    assert len(client.request("prompts/list")["result"]["prompts"]) == 5
    def get(name, **arguments):
        return client.request("prompts/get", {"name": name, "arguments": arguments})["result"]["messages"]
    assert get("test_simple_prompt")[0]["content"]["type"] == "text"
    assert get("test_prompt_with_arguments", arg1="one", arg2="two")[0]["content"]["text"] == "arg1='one', arg2='two'"
    assert get("test_prompt_with_embedded_resource", resourceUri="a://b")[0]["content"]["resource"]["uri"] == "a://b"
    assert get("test_prompt_with_image")[0]["content"]["type"] == "image"
    assert client.request("prompts/get", {"name": "nope"})["error"]["code"] == -32602


def test_resources(client):
    uris = [r["uri"] for r in client.request("resources/list")["result"]["resources"]]
    assert uris == ["test://static-text", "test://static-binary", "test://watched-resource"]
    def read(uri):
        return client.request("resources/read", {"uri": uri})["result"]["contents"][0]
    assert "text" in read("test://static-text") and "blob" in read("test://static-binary")
    assert '"id":"42"' in read("test://template/42/data")["text"]
    assert read("test://template/42/data")["uri"] == "test://template/42/data"
    assert "error" in client.request("resources/read", {"uri": "test://template/4/2/data"})


def test_completion(client):
    params = {"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"}, "argument": {"name": "arg1", "value": "a"}}
    assert client.request("completion/complete", params)["result"]["completion"]["values"] == ["alpha"]


def test_lists_that_change():
    with Modern(command=COMMAND) as client:
        tools = client.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        prompts = client.begin("subscriptions/listen", {"notifications": {"promptsListChanged": True}})
        client.message(), client.message()
        client.call("test_trigger_tool_change")
        told = client.message()
        assert told["method"] == "notifications/tools/list_changed"
        assert told["params"]["_meta"][META + "subscriptionId"] == tools
        client.call("test_trigger_prompt_change")
        told = client.message()
        assert told["method"] == "notifications/prompts/list_changed"
        assert told["params"]["_meta"][META + "subscriptionId"] == prompts
        assert client.is_quiet()
    with Legacy(command=COMMAND) as client:
        client.call("test_trigger_tool_change")
        assert client.message()["method"] == "notifications/tools/list_changed"


def test_a_resource_that_changes():
    with Legacy(command=COMMAND) as legacy, Modern(command=COMMAND) as modern:
        legacy.ask("resources/subscribe", {"uri": "test://watched-resource"})
        id = modern.begin("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["test://watched-resource"]}})
        modern.message()
        for client in (legacy, modern):
            told = client.message()
            assert told["method"] == "notifications/resources/updated"
            assert told["params"]["uri"] == "test://watched-resource"
        assert told["params"]["_meta"][META + "subscriptionId"] == id


def test_both_versions_are_told(modern):
    assert modern.request("server/discover")["result"]["supportedVersions"] == [mcp.MODERN]
    assert modern.initialize(version="2025-06-18")["protocolVersion"] == "2025-06-18"
