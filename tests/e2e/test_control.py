"""What controls glovebox lies in no directory that boxes can write to, by whatever name."""
import json
import os
import subprocess

import pytest
from box import ENV, GLOVEBOX, PYTHON, batch, glovebox

SERVER = {"s": {"command": "python3", "args": ["{}/server.py"]}}


@pytest.fixture
def shared(tmp_path):
    """A directory that will be mounted, and one beside it."""
    here = tmp_path / "shared"
    here.mkdir()
    (here / "sub").mkdir()
    (tmp_path / "beside").mkdir()
    return here


def text(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


# What a face is told of that decides something, by how it is told; {} is the directory.
def audit(d):
    return ["run", "--audit", d / "a.jsonl", "-c", "1"]


def config(d):
    return ["run", "--config", text(d / "c.json", {}), "-c", "1"]


def config_audit(d):
    return ["run", "--config", text(d.parent / "c.json", {"audit": str(d / "a")}), "-c", "1"]


def found(d):
    text(d / "glovebox.json", {"timeout": 9})
    return ["run", "-c", "1"], {"cwd": d}


def user_config(d):
    return ["run", "-c", "1"], {"env": {"XDG_CONFIG_HOME": str(d)}}


def state(d):
    return ["shell", "-c", ":"], {"env": {"XDG_STATE_HOME": str(d / "state")}}


def home(d):
    return ["run", "-c", "1"], {"env": {"HOME": str(d), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}}


def token(d):
    return ["serve", "--listen", "127.0.0.1:0", "--token-file", d / "token"]


def listening(d):
    return ["serve", "--listen", f"unix:{d / 'socket'}"]


def tools(d):
    return ["run", "--tools", text(d / "t.json", []), "-c", "1"]


def tool(d):
    return ["run", "--tool", f"t={text(d / 'tool', 'x')}", "-c", "1"]


def tool_script(d):
    return ["run", "--tool", f"t=exec python3 '{text(d / 'tool.py', 'x')}' -v", "-c", "1"]


def tool_here(d):
    text(d / "tool.py", "x")
    return ["run", "--tool", "t=python3 tool.py", "-c", "1"], {"cwd": d}


def tool_path(d):
    return ["run", "--tool", "t=thing", "-c", "1"], {"env": {"PATH": f"{d}:{os.environ['PATH']}"}}


def servers(d):
    return ["run", "--mcp", text(d / "m.json", {"mcpServers": {}}), "-c", "1"]


def server(d):
    text(d / "server.py", "x")
    spec = json.loads(json.dumps(SERVER).replace("{}", str(d)))
    return ["mcp", "--mcp", text(d.parent / "m.json", spec)]


def server_directory(d):
    """Where `python3 -m x` imports from."""
    spec = {"s": {"command": "python3", "args": ["-m", "x"], "cwd": str(d)}}
    return ["mcp", "--mcp", text(d.parent / "m.json", spec)]


def prelude(d):
    return ["run", "--prelude", text(d / "p.py", ""), "-c", "1"]


def review_ca(d):
    options = {"review": "https://127.0.0.1:1/v1", "review_ca": str(text(d / "ca", "x"))}
    return ["run", "--config", text(d.parent / "c.json", options), "-c", "1"]


def out(d):
    return ["run", "-o", d / "out", "-c", "1"]


def spill(d):
    return ["shell", "--spill", d, "-c", ":"]


CASES = [audit, config, config_audit, found, user_config, state, home, token, listening, tools, tool, tool_script, tool_here,
         tool_path, servers, server, server_directory, prelude, review_ca, out, spill]


def ask(case, directory, mount):
    asked = case(directory)
    args, options = asked if isinstance(asked, tuple) else (asked, {})
    return glovebox(args[0], "-m", mount, *args[1:], **options)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("below", ["", "sub"])
def test_nothing_of_it_is_where_boxes_write(shared, case, below):
    done = ask(case, shared / below, f"{shared}:w:rw")
    assert (done.returncode, done.stdout) == (2, "") and "'w' cannot be rw: " in done.stderr, done.stderr


@pytest.mark.parametrize("case", [c for c in CASES if c not in (token, listening, server, server_directory, servers, review_ca)])
def test_beside_it_and_below_what_is_only_read_it_may_be(shared, case):
    for directory, mount in [(shared.parent / "beside", f"{shared}:w:rw"), (shared, f"{shared}:w:ro")]:
        done = ask(case, directory, mount)
        assert done.returncode == 0, done.stderr


# ---- other names of the same ----

def through_a_link_in_it(shared):
    (shared / "link").symlink_to(shared.parent / "beside")
    return shared / "link" / "a"


def through_a_link_to_it(shared):
    (shared.parent / "link").symlink_to(shared)
    return shared.parent / "link" / "a"


def a_link_to_a_file_in_it(shared):
    (shared.parent / "beside/a").symlink_to("../shared/a")
    return shared.parent / "beside/a"


def up_and_down(shared):
    return shared.parent / "beside/../shared/sub/../a"


def another_name_of_the_file(shared):
    (shared.parent / "beside/a").write_text("")
    (shared / "x").hardlink_to(shared.parent / "beside/a")
    return shared.parent / "beside/a"


@pytest.mark.parametrize("name", [through_a_link_in_it, through_a_link_to_it, a_link_to_a_file_in_it, up_and_down,
                                  another_name_of_the_file])
def test_other_names(shared, name):
    done = glovebox("run", "-m", f"{shared}:w:rw", "--audit", name(shared), "-c", "1")
    assert done.returncode == 2 and "'w' cannot be rw: the audit is there" in done.stderr, done.stderr


def in_own_mounts(script):
    """Run a script where what it mounts is nobody else's."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    return subprocess.run([*unshare, "sh", "-ec", script], capture_output=True, text=True, env=ENV, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("script", [
    "mount --bind {0}/shared {0}/beside && A={0}/beside/a",
    "mount --bind {0}/shared/sub {0}/beside && A={0}/beside/a",
    "mount --bind {0}/beside {0}/shared/sub && A={0}/beside/a",
    "mkdir {0}/beside/x && mount --bind {0}/beside {0}/shared/sub && A={0}/beside/x/a",
    "mount -t tmpfs none {0}/shared/sub && A={0}/shared/sub/a",
])
def test_other_mounts(shared, script):
    """The same directory mounted at two places of the host."""
    done = in_own_mounts(script.format(shared.parent) + f'; exec {GLOVEBOX} run -m {shared}:w:rw --audit "$A" -c 1')
    assert done.returncode == 2 and "'w' cannot be rw: the audit is there" in done.stderr, done.stderr


def test_the_interpreter_by_another_name(shared):
    if os.geteuid() != 0:
        return  # only root can have mounts of its own without another user namespace
    (shared / "lib").mkdir()
    venv = shared.parent / "venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    done = in_own_mounts(f"mount --bind {venv}/lib {shared}/lib; exec {GLOVEBOX} run --python {venv}/bin/python -m {shared}:w:rw -c 1")
    assert done.returncode == 125 and "interpreter imports outside the box" in done.stderr, done.stderr


# ---- what comes with a request ----

def test_mounts_of_a_request(shared, tmp_path):
    request = {"code": "1", "mounts": [{"host": str(shared), "name": "w", "mode": "rw"}]}
    result = batch([request], "--allow-request", "mounts", "--audit", shared / "sub/a")[0]
    assert result["status"] == "failed" and "'w' cannot be rw: the audit is there" in result["error"]["message"]
    request["mounts"][0]["mode"] = "ro"
    assert batch([request], "--allow-request", "mounts", "--audit", shared / "sub/a")[0]["status"] == "ok"
    script = text(shared / "t.sh", "echo 1")
    request["mounts"][0]["mode"] = "rw"
    result = batch([request], "--allow-request", "mounts", "--tool", f"t=sh {script}")[0]
    assert result["status"] == "failed" and "a program that runs outside the box" in result["error"]["message"]


def test_control_files_are_configured_by_others_too(shared, tmp_path):
    """A program that embeds the library has files of its own."""
    own = text(tmp_path / "c.json", {"control_files": [str(shared / "policy")]})
    done = glovebox("run", "--config", own, "-m", f"{shared}:w:rw", "-c", "1")
    assert done.returncode == 2 and f"a file that controls glovebox is there: {shared}/policy" in done.stderr
