"""Servers that others wrote inside the box, and our client under the conformance suite (scripts/deps-mcp)."""
import base64
import json
import re
import subprocess

import pytest

import box
import mcp

CLIENTS = box.ROOT / "build/mcp-clients"
NODE = CLIENTS / "node_modules/node/bin/node"
PACKAGES = CLIENTS / "node_modules/@modelcontextprotocol"
SDK_SERVER = box.ROOT / "tests/mcp/server.mjs"
DRIVER = box.BUILD / "tests/e2e/mcp_client_driver"


@pytest.fixture(autouse=True, scope="module")
def are_installed():
    assert NODE.exists(), "the servers are missing: run scripts/deps-mcp"


def package(name, *args, **more):
    return {"command": str(NODE), "args": [str(PACKAGES / name / "dist/index.js"), *map(str, args)], **more}


def sdk(**more):
    return {"command": str(NODE), "args": [str(SDK_SERVER), str(CLIENTS), "stdio"], **more}


@pytest.fixture
def config(tmp_path):
    def write(**servers):
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}))
        return path
    return write


def value(config, code, *options):
    result = box.run_json(code, "--mcp", config, *options)
    assert result["status"] == "ok", (result["status"], result["error"])
    return result["value"]


TASK = """
for city, people in {"Oslo": 700, "Bern": 140, "Riga": 600, "Graz": 300, "Cork": 220}.items():
    files.write_file(path=f"{ROOT}/{city}.json", content=f'{{"people": {people}}}')
names = [line.split()[-1] for line in files.list_directory(path=ROOT)["content"].splitlines()]
import json
found = {n[:-5]: json.loads(files.read_text_file(path=f"{ROOT}/{n}")["content"])["people"] for n in names}
memory.create_entities(entities=[{"name": c, "entityType": "city", "observations": [f"{p} thousand"]}
                                 for c, p in found.items()])
total = 0
for p in sorted(found.values()):
    total = sums.add(a=total, b=p)["sum"]
largest = max(found, key=found.get)
memory.add_observations(observations=[{"entityName": largest, "contents": ["the largest"]}])
graph = memory.search_nodes(query="largest")
files.write_file(path=f"{ROOT}/total.txt", content=str(total))
[total, [e["name"] for e in graph["entities"]], files.read_text_file(path=f"{ROOT}/total.txt")["content"]]
"""


def test_a_task_of_twenty_calls_over_three_servers(config, tmp_path):
    root = tmp_path / "cities"
    root.mkdir()
    path = config(files=package("server-filesystem", root), sums=sdk(),
                  memory=package("server-memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}))
    with mcp.Legacy("--mcp", path, "--code-mode") as client:
        tools = client.ask("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["execute_code"] and len(tools[0]["description"]) < 11_000
        done = client.ask("tools/call", {"name": "execute_code", "arguments": {
            "code": f"ROOT = {str(root)!r}\n" + TASK}})["result"]["structuredContent"]
        assert done["status"] == "ok", done["error"]
        assert done["value"] == [1960, ["Oslo"], "1960"]
        assert len(done["tool_calls"]) == 21 and all(call["ok"] for call in done["tool_calls"])
        assert {call["name"].split(".")[0] for call in done["tool_calls"]} == {"files", "memory", "sums"}
        assert "Bern" not in json.dumps(done["value"]) and (root / "total.txt").read_text() == "1960"
        assert client.end()[0] == 0


def test_everything(config):
    path = config(ev=package("server-everything", "stdio", env={"API_KEY": "a-secret-value"}))
    got = value(path, """
picture = ev.get_tiny_image()
links = ev.get_resource_links(count=2)
[ev.echo(message="hi"), ev.get_sum(a=1, b=2), ev.get_structured_content(location="Chicago"), picture[1].mime,
 picture[1].read()[:4].hex(), links[1].kind, links[1].text(), ev.get_env()["API_KEY"],
 ev.get_resource_reference(resourceType="Text", resourceId=1)[1].text(), "elicit" in str(dir(ev)),
 ev.trigger_long_running_operation(duration=0.5, steps=2)]
""")
    assert got[:2] == ["Echo: hi", "The sum of 1 and 2 is 3."] and set(got[2]) == {"temperature", "conditions", "humidity"}
    assert got[3:6] == ["image/png", "89504e47", "resource_link"]
    assert "Resource 1" in got[6] and got[7] == "*" * len("a-secret-value")
    assert "Resource 1" in got[8] and got[9] is False and "completed" in got[10]


def test_filesystem_refuses_what_is_not_allowed(config, tmp_path):
    (tmp_path / "in").mkdir()
    got = value(config(files=package("server-filesystem", tmp_path / "in")), """
try:
    files.read_text_file(path="/etc/passwd")
except ToolError as e:
    result = [e.type, e.message]
result""")
    assert got[0] == "ToolFailed" and "Access denied" in got[1]


def test_a_picture_from_the_filesystem(config, tmp_path):
    png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    (tmp_path / "a.png").write_bytes(png)
    got = value(config(files=package("server-filesystem", tmp_path)), f"""
import base64
block = files.read_media_file(path="{tmp_path}/a.png")["content"][0]
[block["mimeType"], len(base64.b64decode(block["data"]))]""")
    assert got == ["image/png", len(png)]


def test_sdk_over_stdio(config):
    assert value(config(m=sdk()), "[m.add(a=2, b=3), m.where(region='eu'), dir(m)]") == \
        [{"sum": 5}, "in eu", ["add", "grow", "where"]]


@pytest.fixture(params=["http", "sse"])
def http_server(request):
    process = subprocess.Popen([NODE, SDK_SERVER, CLIENTS, request.param], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**box.ENV, "TOKEN": "a-long-token"}, text=True)
    yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    process.stdin.close()
    process.wait(20)
    process.stdout.close()


def test_sdk_over_http(config, http_server):
    path = config(m={"url": http_server, "headers": {"Authorization": "Bearer ${TOKEN:-a-long-token}"}})
    results = box.batch([
        {"code": "import asyncio\n[m.add(a=2, b=3), m.where(region='é \\n'), m.where(region='plain')]"},
        {"code": "import asyncio\n[r['sum'] for r in await asyncio.gather(*(m.add(a=i, b=i) for i in range(50)))]"},
        {"code": "m.grow()", "session": "s"}, {"code": "import time; time.sleep(2)", "session": "s"},
        {"code": "m.grown()", "session": "s"}], "--mcp", path, "-j", "1")
    assert [r["status"] for r in results] == ["ok"] * 5, [r["error"] for r in results]
    assert results[0]["value"] == [{"sum": 5}, "in é \n", "in plain"]
    assert results[1]["value"] == [2 * i for i in range(50)] and results[4]["value"] == "there"


def test_a_wrong_token(config, http_server):
    done = box.glovebox("run", "--mcp", config(m={"url": http_server, "headers": {"Authorization": "Bearer wrong-one"}}), "-c", "1")
    assert done.returncode == 125 and "HTTP status 401: it wants other credentials" in done.stderr
    assert "wrong-one" not in done.stderr


def test_everything_over_http(config, tmp_path):
    """Of the era of handshakes: a session, streams of events, and a stream of what nobody asked for."""
    with mcp_port() as port:
        server = subprocess.Popen([NODE, PACKAGES / "server-everything/dist/index.js", "streamableHttp"],
                                  env={**box.ENV, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True)
    try:
        while "listening" not in server.stderr.readline():
            assert server.poll() is None
        got = value(config(ev={"type": "http", "url": f"http://127.0.0.1:{port}/mcp"}),
                    "[ev.echo(message='hi'), ev.get_tiny_image()[1].size, ev.get_resource_links(count=1)[1].text()[:8]]")
        assert got == ["Echo: hi", 4033, "Resource"]
    finally:
        server.kill()
        server.wait()
        server.stderr.close()


def mcp_port():
    """A port that was free a moment ago."""
    import contextlib
    import socket

    @contextlib.contextmanager
    def port():
        with socket.create_server(("127.0.0.1", 0)) as s:
            number = s.getsockname()[1]
        yield number
    return port()


MODERN = ["tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
          "http-invalid-tool-headers", "json-schema-ref-no-deref"]
LEGACY = ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"]


@pytest.mark.parametrize("version, tried", [("2026-07-28", MODERN), ("2025-11-25", LEGACY)])
def test_every_scenario_is_tried(version, tried):
    listed = subprocess.run([NODE, PACKAGES / "conformance/dist/index.js", "list", "--requirements", version],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=60).stdout
    required = listed.partition("Client scenarios")[2].partition("\n\n")[0]
    assert set(re.findall(r"^  - (?!auth/)(\S+)", required, re.M)) == set(tried)


@pytest.mark.parametrize("version, scenario", [("2026-07-28", s) for s in MODERN] + [("2025-11-25", s) for s in LEGACY])
def test_conformance(version, scenario):
    """Every client scenario that the suite requires, but for those about OAuth; none may fail."""
    env = {**box.ENV, "PATH": f"{NODE.parent}:{box.ENV['PATH']}", "GLOVEBOX_MODULES": str(box.BUILD)}
    said = subprocess.run([NODE, PACKAGES / "conformance/dist/index.js", "client", "--command", str(DRIVER), "--scenario",
                           scenario, "--spec-version", version], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=90)
    assert said.returncode == 0 and "OVERALL: PASSED" in said.stdout, said.stdout
    assert " 0 failed, 0 warnings" in said.stdout and "CLIENT EXITED WITH ERROR" not in said.stdout
