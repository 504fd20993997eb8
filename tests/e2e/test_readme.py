"""What the README shows is what happens: its commands, as typed and in its order, and what they print."""
import os
import re
import shlex
import socket
import subprocess

import pytest

import box
from box import ROOT, Terminal, run_json

CLIENTS = box.BUILD / "mcp-clients/node_modules/.bin"
TEXT = (ROOT / "README.md").read_text()


def blocks():
    """Each indented block of the README that has commands in it: [(command, what it prints)]."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", TEXT, re.M):
        found, lines = [], [line[4:] for line in block.splitlines()]
        while lines:
            line = lines.pop(0)
            if line.startswith("$ "):
                found.append([line[2:], []])
                while is_unfinished(found[-1][0]) and lines:
                    found[-1][0] += "\n" + lines.pop(0)
            elif found:
                found[-1][1].append(line)
        if found:
            yield [(command, "\n".join(printed)) for command, printed in found]


def is_unfinished(command):
    done = subprocess.run(["bash", "-n", "-c", command], capture_output=True)
    return done.returncode != 0 or done.stderr or command.endswith("\\")


def plain(text):
    """Without what differs from host to host: numbers, marks below code, and where lines were broken."""
    lines = [line for line in text.splitlines() if set(line) - set(" ~^")]
    return re.sub(r"\d+(\.\d+)*", "N", re.sub(r"\s+", "", "".join(lines)))


def is_shown(printed, shown):
    parts = [re.escape(plain(part)) for part in shown.split("...")]
    return re.fullmatch(".*".join(parts), plain(printed), re.S) is not None


def test_what_counts_as_shown():
    assert is_shown("a 1.5 b\n  ^\nc d e", "a 2 b\n...\ne") and is_shown('{"a":1,\n"b":2}', '{"a":1,...}')
    assert not is_shown("a 1 c", "a 1 b") and not is_shown("a b", "a") and not is_shown("a x c", "a ... d")


@pytest.fixture
def here(tmp_path):
    # The README was typed where the kernel holds everything.
    assert run_json("1")["isolation"]["level"] == "namespaces"
    (tmp_path / "build").symlink_to(box.BUILD)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def env_of(here):
    return {**box.ENV, "HOME": str(here), "PATH": f"{box.BUILD}:{box.ENV['PATH']}"}


def typed(command, here):
    done = subprocess.run(["bash", "-c", command], cwd=here, env=env_of(here), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.stdout


OTHERWISE = ("--approve ask", "npx", "--mcp mcp.json", "pkg-config", "glovebox serve", "TOKEN", "glovebox mcp --print-config")


def test_the_tour(here):
    wrong, n = [], 0
    for command, shown in (pair for block in blocks() for pair in block):
        if any(words in command for words in OTHERWISE):
            continue
        n += 1
        printed = typed(command, here)
        if not is_shown(printed, shown):
            wrong.append(f"$ {command}\n{printed}\n--- and not\n{shown}")
    assert not wrong and n > 25, "\n\n".join(wrong)


def test_the_question(here):
    command, shown = next(pair for block in blocks() for pair in block if "--approve ask" in pair[0])
    words = shlex.split(command.rpartition(";")[0])
    answer = re.search("why not: (.*)", shown)[1]
    with Terminal(*words[1:], env={"NO_COLOR": "1"}, on_terminal=("stdin", "stdout", "stderr")) as terminal:
        asked = terminal.shows("why not: ")
        terminal.types(answer + "\n")
        rest = terminal.shows("do it for")
        assert terminal.process.wait(20) == 126
    assert is_shown(asked + rest + "exit 126", shown), asked + rest


def test_the_tools_of_other_servers(here):
    assert (CLIENTS / "mcp-server-filesystem").exists(), "run scripts/deps-mcp first"
    block = next(b for b in blocks() if any("npx" in command for command, _ in b))
    for command, shown in block:
        command = command.replace('"npx"', f'"{CLIENTS}/mcp-server-filesystem"')
        printed = typed(re.sub(r'"-y", "@[^"]*", ', "", command), here)
        assert is_shown(printed, shown), printed


def test_the_agents_part(here):
    pairs = [pair for block in blocks() for pair in block]
    command, shown = next(pair for pair in pairs if "--print-config" in pair[0])
    assert is_shown(typed(command, here).replace(str(box.GLOVEBOX), "/usr/local/bin/glovebox"), shown)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    serve, token, ask = (next(pair for pair in pairs if words in pair[0])
                         for words in ("glovebox serve &", "TOKEN=", "curl -s"))
    script = "\n".join([serve[0].replace("serve", f"serve --listen {port}").replace("&", "2>said &"), "pid=$!",
                        "until grep -qs serving said; do sleep 0.05; done", token[0],
                        ask[0].replace("8377", port), "kill $pid; wait $pid; echo; cat said"])
    printed, _, said = typed(script, here).partition("\nglovebox: ")
    assert is_shown(printed, ask[1].replace(", ...", "...")), printed
    wanted = serve[1].replace("/home/you", str(here)).replace("0pc4", "")
    assert is_shown("glovebox: " + said, wanted + "\nglovebox: ending"), said
    assert os.stat(here / ".local/state/glovebox/token").st_mode & 0o777 == 0o600
