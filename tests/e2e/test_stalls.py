"""No client, downstream server or program stops the others: see stall.py, also for how to add a row."""
import contextlib
import json

import pytest

import box
import hostile_server
import stall
import web
from stall import row

HOSTILE = str(box.ROOT / "tests/e2e/hostile_server.py")


# ---- requests: each key that costs something has a row ----

def refused(reply, *words):
    text = reply.body.decode()
    assert all(word in text for word in words), (reply.status, text[:500])


@row("command", "deny")
def back_reference(s):
    command = "echo " + "a" * 100000
    for pattern in (r"(a{1,65535})\1[bc]", r"(?i)(a+)\1+[bc]", r"(?<x>a{1,9999})\k<x>[bc]", r"(a+)(?:\1){2,}[bc]"):
        refused(s.post("/v1/shell", {"command": command, "deny": [pattern]}), "takes too long", pattern[:3])


@row("command", "deny")
def slow_patterns(s):
    command = "echo " + "a" * 120000
    for pattern in (r"(a+)+$b", r"(a|aa)+c", r"a.*b.*c.*d.*e", r"(?:a{1,500}){1,500}c", r"\w*\w*\w*\w*\w*z",
                    r"(?=(a+))a*b\b", r"(?s).*.*.*.*=", r"(?:(?:a?){60}){60}c"):
        s.post("/v1/shell", {"command": command, "deny": [pattern] * 8})


@row("deny", "allow")
def many_patterns(s):
    reply = s.post("/v1/shell", {"command": "true", "deny": ["(a{1,60}b){1,60}" + str(i) for i in range(100000)]})
    refused(reply, "deny: more than 500")
    for key in ("deny", "allow"):
        s.post("/v1/shell", {"command": "true", key: ["(?:(?:(?:a{1,50}b){1,50}c){1,50})" + "d" * 3000 + str(i)
                                                      for i in range(500)]})


@row("inputs", options=["--policy", "off"])
def many_inputs(s):
    inputs = {f"name_{i}": i for i in range(90000)}
    assert s.run("len(globals()) > 80000", inputs=inputs).status == 200


@row("inputs", "approve", options=["--approve", "always"])
def many_inputs_to_approve(s):
    refused(s.run("1", inputs={f"name_{i}": i for i in range(90000)}), "approv")


@row("env")
def many_variables(s):
    for path, what in (("/v1/run", {"code": "1"}), ("/v1/shell", {"command": "true"})):
        s.post(path, {**what, "env": {f"NAME_{i}": "x" for i in range(90000)}, "timeout": 1})


@row("env", "approve", options=["--approve", "always"])
def many_variables_to_approve(s):
    refused(s.run("1", env={f"NAME_{i}": "x" for i in range(90000)}), "env: more than")
    refused(s.run("1", env={f"NAME_{i}": "x" for i in range(4000)}), "approv")


@row("unset_env")
def many_unset(s):
    s.post("/v1/shell", {"command": "true", "unset_env": [f"NAME_{i}" for i in range(90000)],
                         "env": {f"NAME_{i}": "x" for i in range(20000)}})


@row("files")
def deep_files(s):
    deep = "/".join("d" * 2000)
    s.run("1", files={f"{i}/{deep}": "x" for i in range(500)})
    s.run("1", files={f"{'/'.join(str(i) * 200)}/{n}": "x" for i in range(10) for n in range(50)})


@row("files")
def many_files(s):
    assert s.run("1", files={f"f{i}": "x" * 5000 for i in range(1000)}).status == 200
    s.run("1", files={f"f{i}": {"base64": "AAAA" * 2000} for i in range(700)})


@row("tools", options=["--tools", "{tools}"])
def many_tool_names(s):
    names = [f"tool_{i}" for i in range(2000)] * 40
    refused(s.run("1", tools=names), "tools")
    assert s.run("1", tools=[f"tool_{i}" for i in range(1999)]).status == 200


@row("code", "code_base64")
def long_code(s):
    assert s.run("x = 1\n" * 150000).status == 200
    s.run("x = " + "(" * 50000)
    s.post("/v1/run", {"code_base64": "QUFB" * 300000})


@row("prelude", "filename", "argv")
def long_arguments(s):
    s.run("1", argv=["x"] * 190000)
    s.run("1", argv=["x" * 1000000] * 5)
    s.run("1", prelude="x = 1\n" * 150000)
    s.run("1", filename="x" * 5000000)


@row("stdin", "stdin_base64")
def long_stdin(s):
    assert s.run("1", stdin="x" * 7000000).status == 200
    assert s.run("1", stdin="\x01" * 1300000).status == 200
    assert s.run("1", stdin_base64="QUFB" * 1700000).status == 200


@row("allow_import", "block_import", "allow_builtin", "block_builtin", "allow_os_attr")
def many_names(s):
    for key in ("allow_import", "block_import", "allow_builtin", "block_builtin", "allow_os_attr"):
        s.run("1", **{key: [f"n{i}" for i in range(1000)]})
        s.run("1", **{key: [f"n{i}" for i in range(190000)]})


@row("command", "allow_command", "command_base64")
def odd_commands(s):
    for command in ("a" * 130000, "$(" * 60000, "a;" * 60000, "'" * 130000, "a=" * 60000, "{a,b}" * 25000,
                    "`" * 130000, "((" * 60000, "case a in " * 10000, "<<A\n" * 25000, "$((" * 40000, "if a; then " * 10000,
                    "\\\n" * 60000, "a b " * 30000, "f() { " * 20000, "!(" * 60000, "${a:-" * 25000, "\"$(" * 40000,
                    "a|" * 60000, "<(" * 60000, "for i in a; do " * 8000, "PATH=x " * 18000):
        s.post("/v1/shell", {"command": command[:131000], "allow_command": ["a"] * 400 + ["b"]})
    s.post("/v1/shell", {"command": "a;" * 60000, "allow_command": [f"name{i}" for i in range(190000)]})


@row("shell", "workdir")
def odd_shells(s):
    s.post("/v1/shell", {"command": "true", "shell": ["bash"] + ["-x"] * 150000})
    s.post("/v1/shell", {"command": "true", "shell": "bash " * 1000000})
    s.post("/v1/shell", {"command": "true", "workdir": "a/" * 3000000})


@row("deny_preset")
def many_presets(s):
    s.post("/v1/shell", {"command": "rm " * 40000, "deny_preset": ["destructive", "network", "privileges"]})
    s.post("/v1/shell", {"command": ("curl " * 20000), "deny_preset": ["destructive"] * 10000})
    s.post("/v1/shell", {"command": ("rm -r x " * 15000), "deny_preset": ["destructive"]})


@row("session", "op", "text", "keys", "path", "into")
def odd_sessions(s):
    assert s.run("x = 1", session="a").status == 200
    for more in ({"op": "type", "text": "x" * 5000000}, {"op": "type", "keys": ["Enter"] * 190000},
                 {"op": "read_file", "path": "a/" * 3000000}, {"op": "fork", "into": "x" * 5000000},
                 {"op": "write_file", "files": {f"{i}/" + "/".join("d" * 1900): "x" for i in range(400)}}):
        s.post("/v1/run", {"kind": "session", "session": "a", **more})


@row("pty")
def odd_terminals(s):
    """What a terminal is sent in one command, up to the limit on output."""
    for text in (r"\033[999;999H\033[2Jx", r"\033[9999999b", r"\033[1;1r\033[999S", r"\033]0;" + "x" * 1000,
                 r"\033[999L\033[999M\033[999@\033[999P", "\\r\\n" * 20, r"x\033[J\033[1J\033[999T"):
        s.post("/v1/shell", {"command": f"for i in $(seq 2000); do printf '{text}%.0s' 1 2 3 4 5; done", "pty": True})


@row("mounts")
def many_mounts(s):
    s.run("1", mounts=[{"host": "/usr", "name": f"m{i}"} for i in range(50000)])
    s.run("1", mounts=[f"/usr/{'../usr/' * 1000}:m"] * 1000)


@row("limits", "id", "echo")
def odd_values(s):
    s.run("1", limits={f"l{i}": 1 for i in range(190000)})
    s.run("1", id=[[i] for i in range(90000)])
    s.run("1", id="x" * 7000000)
    s.run("1", **{"x" * 5000000: 1})
    s.run("1", **{f"key{i}": 1 for i in range(90000)})


# Keys whose value is a word, a number or a flag from a small set: reading it is all that they cost.
PLAIN = {"kind", "cell", "job", "rows", "columns", "offset", "length", "timeout", "isolation", "policy", "patterns",
         "network", "backend", "capture", "clean_env", "confine_workdir", "raw"}


def test_every_request_key_has_a_row_or_a_reason():
    keys = set(box.run_program(box.BUILD / "tests/e2e/request_keys").stdout.split())
    assert len(keys) > 40
    rows = {key for r in stall.ROWS for key in r.keys}
    assert keys - rows - PLAIN == set(), "add a row to test_stalls.py, or say in PLAIN that they cost nothing"
    assert (rows | PLAIN) - keys == set(), "no request has these keys any more"


# ---- bodies ----

@row(face="JSON")
def odd_json(s):
    for body in (b"[" * 8000000, b"[" * 100 + b"]" * 100, b'{"code": "1", "id": [' + b"1," * 199000 + b"1]}",
                 b'{"a":' * 1000000, b'{"code": "1", "id": ' + b"9" * 7000000 + b"}", b'{"code":"1","id":' + b"1e5" * 10 + b"}",
                 b'{"code": "' + b"\\u0041" * 1300000 + b'"}', b'{"' + b'","'.join(b"%d" % i for i in range(100000)) + b'"}'):
        s.post("/v1/run", body)
        s.post("/mcp", body)


@row(face="MCP")
def odd_messages(s):
    s.modern("tools/call", {"name": "x" * 5000000, "arguments": {}}, headers={"Mcp-Name": "x"})
    s.execute("1", inputs={f"n{i}": i for i in range(90000)})
    s.modern("x" * 5000000, headers={"Mcp-Method": "x"})


# ---- what a client does to its connections ----

def told(s, data):
    """All that came for these bytes, up to the end of the connection."""
    try:
        return s.says_raw(data)[1]
    except OSError:  # closed while it was sent
        return b""


@row(face="HTTP: chunks")
def odd_chunks(s):
    head = s.head("POST", "/v1/run", "Transfer-Encoding: chunked", "Connection: close") + b"\r\n"
    for chunks in (b"1\r\n \r\n" * 300000, b"1;" + b"a" * 900 + b"\r\n \r\n" * 5000, b"0" * 5000000,
                   b"0\r\n" + b"x: y\r\n" * 300000, b"1;a=\"" + b"\\\"" * 2000000):
        told(s, head + chunks + b"0\r\n\r\n")


@row(face="HTTP: heads")
def odd_heads(s):
    for lines in ([f"X{i}: y" for i in range(5000)], ["X: " + "y" * 31000], ["x" * 31000], ["Accept: " + "a," * 15000],
                  ["Connection: " + "close, " * 4000], ["Host: localhost"] * 90):
        told(s, s.head("GET", "/healthz", "Connection: close", *lines) + b"\r\n")
    told(s, b"GET /" + b"x" * 5000000)
    told(s, b"\r\n" * 2000000)
    with s.raw() as c:  # a byte at a time
        try:
            for byte in s.head("GET", "/healthz", "X: " + "y" * 3000, "Connection: close") + b"\r\n":
                c.send(bytes([byte]))
        except OSError:
            pass
        web.read_all(c)


@row(face="HTTP: pipelined requests", options=["--rate", "1000000"])
def many_requests_ahead(s):
    get = s.head("GET", "/healthz") + b"\r\n"
    last = s.head("GET", "/healthz", "Connection: close") + b"\r\n"
    assert told(s, get * 2000 + last).count(b"HTTP/1.1 ") > 0
    with s.raw(get) as c:  # and never reads
        c.settimeout(0.5)
        try:
            while True:
                c.sendall(get * 1000)
        except OSError:
            pass


@row(face="HTTP: connections")
def many_connections(s):
    with contextlib.ExitStack() as stack:
        for i in range(1200):
            c = stack.enter_context(s.raw())
            c.setblocking(False)
            try:
                c.send(b"G" * (i % 3))
            except OSError:  # it had to make room
                pass


@row(face="HTTP: replies that nobody reads")
def unread_replies(s):
    body = json.dumps({"code": "for n in 'abcd': open(n, 'wb').write(bytes(8 << 20))", "capture": "inline"}).encode()
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(s.raw(s.head("POST", "/v1/run", f"Content-Length: {len(body)}") + b"\r\n" + body))
            assert box.until(lambda: s.running() == 0 and s.metrics()["glovebox_runs_waiting"] == 0, 60)


# ---- what a program sends ----

@row(face="program", options=["--stdout-limit", "4M"])
def loud_program(s):
    assert s.run("import sys\nfor i in range(300): sys.stdout.write('\\xff\\x00\\x1b' * 30000)").status == 200
    assert s.run("import sys\nfor i in range(100): sys.stdout.buffer.write(b'\\xff\\xfe' * 100000)").status == 200


@row(face="program")
def many_captured_files(s):
    assert s.run("import os\nfor d in range(60):\n os.mkdir(f'd{d}')\n for i in range(500): open(f'd{d}/f{i}', 'w').close()",
                 capture="inline").status == 200


@row(face="program")
def large_values(s):
    assert s.run("list(range(190000))").status == 200
    assert s.run("{str(i): 'x' for i in range(90000)}").status == 200
    assert s.run("x = []\nfor i in range(95): x = [x]\nx").status == 200


@row(face="program")
def many_displays(s):
    s.run("from IPython.display import display\nfor i in range(300): display({'text/plain': 'x' * 100000}, raw=True)")


@row(face="program", options=["--tools", "{tools}"])
def many_calls(s):
    s.run("import json\nfor i in range(200):\n try: tool_1(x=['y'] * 1000)\n except Exception: pass")


# ---- what downstream servers send ----

def config(mode):
    return "{config}" + json.dumps({"mcpServers": {"h": {"command": box.PYTHON, "args": [HOSTILE, mode]}}})


def calls(name, kind):
    def act(s):
        result = s.run(f"h.{name.replace('-', '_')}()").json()
        assert "no attribute" not in json.dumps(result["error"]), result["error"]
    act.__name__ = name
    row(downstream=kind, options=["--mcp", config("acts")])(act)


def lists(mode, kind):
    def act(s):
        s.run("h.go()")
        assert box.until(lambda: s.run("len(search_tools(query='', limit=50)) > 1").json()["value"] is True, seconds=60)
        if mode == "change-storm":
            box.until(lambda: False, seconds=4)
    act.__name__ = mode
    row(downstream=kind, options=["--mcp", config(mode)])(act)


for each in hostile_server.VALUES:
    calls(each, "tools/call result")
for each in hostile_server.ACTS:
    calls(each, each)
for each in hostile_server.LISTS:
    lists(each, "tools/list result")
lists("change-storm", "notifications/tools/list_changed")


# ---- the test ----

@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Servers by their options, each started when it is first wanted."""
    folder, started = tmp_path_factory.mktemp("stalls"), {}
    tools = folder / "tools.json"
    tools.write_text(json.dumps([{"name": f"tool_{i}", "command": "cat"} for i in range(2000)]))

    def fill(option, n):
        if not option.startswith("{config}"):
            return option.replace("{tools}", str(tools))
        path = folder / f"config-{n}.json"
        path.write_text(option.removeprefix("{config}"))
        return str(path)

    def get(options):
        if options not in started:
            filled = [fill(option, len(started)) for option in options]
            started[options] = web.Server("--max-body", "8M", *filled).__enter__()
        return started[options]
    yield get
    for server in started.values():
        server.__exit__()


@pytest.fixture(autouse=True)
def leaves_no_process():
    """The servers of this file stay until its end; then conftest.py looks again."""
    yield


@pytest.fixture(scope="module")
def budget():
    return stall.budget()


@pytest.mark.parametrize("r", stall.ROWS, ids=lambda r: r.name)
def test_nobody_waits(servers, budget, r):
    server = servers(r.options)
    with stall.Watch(server) as watch:
        r.act(server)
    assert not watch.problem, watch.problem
    assert watch.worst <= budget, f"the engine answered nobody else for {watch.worst:.2f} s of processor time"
