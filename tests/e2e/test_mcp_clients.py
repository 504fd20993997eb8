"""Clients that others wrote: the SDKs and the Inspector, over stdio, in both eras (scripts/deps-mcp installs them)."""
import json
import subprocess

import pytest

import box

CLIENTS = box.ROOT / "build/mcp-clients"
NODE = CLIENTS / "node_modules/node/bin/node"
INSPECTOR = CLIENTS / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


@pytest.fixture(autouse=True, scope="module")
def are_installed():
    assert NODE.exists(), "the clients are missing: run scripts/deps-mcp"


def node(*argv, timeout=90):
    env = {**box.ENV, "PATH": f"{NODE.parent}:{box.ENV['PATH']}"}
    return subprocess.run([NODE, *map(str, argv)], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout)


@pytest.mark.parametrize("sdk, era", [("v1", "legacy"), ("v2", "legacy"), ("v2", "modern"), ("v2", "auto")])
def test_sdk(sdk, era):
    done = node(box.ROOT / "tests/mcp/client.mjs", sdk, era, CLIENTS, box.GLOVEBOX, "mcp", "--approve", "always")
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["failures"] == [] and done.stderr == ""
    assert out["server"]["name"] == "glovebox" and "execute_code" in out["tools"]
    assert out["value"] == 42
    assert out["error"][0] is True and "ZeroDivisionError" in out["error"][1]
    assert [p["message"] for p in out["progress"]][-3:] == ["0", "1", "2"]
    assert out["cancelled"] is True and out["read"] == 10_000
    assert len(out["asked"]) == 5 and "6 * 7" in out["asked"][0]
    assert out["unknown"] == -32602 and out["missing"] in (-32002, -32602)
    assert out["templates"] == ["glovebox://file/{id}/{+path}"]


def inspect(era, *options, home):
    """The Inspector keeps a catalogue in HOME."""
    env = {**box.ENV, "PATH": f"{NODE.parent}:{box.ENV['PATH']}", "HOME": str(home)}
    return subprocess.run([NODE, INSPECTOR, "--cli", box.GLOVEBOX, "mcp", "--protocol-era", era, "--format", "json", "-q",
                           *options], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)


@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_inspector(era, tmp_path):
    listed = inspect(era, "--method", "tools/list", "--strict", home=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "Warning" not in listed.stderr and "Error" not in listed.stderr
    tools = json.loads(listed.stdout)["result"]["tools"]
    assert tools[0]["name"] == "execute_code"

    called = inspect(era, "--method", "tools/call", "--tool-name", "execute_code", "--tool-args-json",
                     json.dumps({"code": "print('hi')\n[n] * 2", "inputs": {"n": 3}}), home=tmp_path)
    result = json.loads(called.stdout)["result"]
    assert called.returncode == 0 and result["structuredContent"]["value"] == [3, 3]
    assert result["content"][0]["text"] == "hi\nvalue: [3,3]"


def test_inspector_load(tmp_path):
    done = inspect("legacy", "--method", "tools/call", "--tool-name", "execute_code", "--tool-args-json", '{"code": "1 + 1"}',
                   "--load", "--load-requests", "200", "--load-concurrency", "10", home=tmp_path)
    report = json.loads(done.stdout)["result"]
    assert (report["ok"], report["errors"], report["toolErrors"]) == (200, 0, 0)
