"""Clients that others wrote: the SDKs and the Inspector, over HTTP, in both eras (scripts/deps-mcp installs them)."""
import json
import subprocess

import pytest

import box
import web
from test_mcp_clients import CLIENTS, INSPECTOR, NODE, node


@pytest.fixture(scope="module")
def server():
    assert NODE.exists(), "the clients are missing: run scripts/deps-mcp"
    with web.Server() as s:
        yield s


# This file's server stays.
@pytest.fixture(autouse=True)
def leaves_no_process():
    yield


@pytest.mark.parametrize("sdk, era", [("v1", "legacy"), ("v2", "legacy"), ("v2", "modern")])
def test_sdk(sdk, era):
    with web.Server("--approve", "always") as server:
        done = node(box.ROOT / "tests/mcp/client.mjs", sdk, era, CLIENTS, f"{server.url}/mcp", server.token)
        assert done.returncode == 0, done.stderr
        out = json.loads(done.stdout)
        assert out["server"]["name"] == "glovebox" and "execute_code" in out["tools"]
        assert out["value"] == 42
        assert out["error"][0] is True and "ZeroDivisionError" in out["error"][1]
        assert [p["message"] for p in out["progress"]][-3:] == ["0", "1", "2"]
        assert out["cancelled"] is True and out["read"] == 10_000
        assert len(out["asked"]) == 5 and "6 * 7" in out["asked"][0]
        assert out["unknown"] == -32602 and out["missing"] in (-32002, -32602)
        assert box.until(lambda: server.running() == 0)  # also the one that was cancelled


def inspect(server, era, home, *options):
    env = {**box.ENV, "PATH": f"{NODE.parent}:{box.ENV['PATH']}", "HOME": str(home)}
    return subprocess.run([NODE, INSPECTOR, "--cli", f"{server.url}/mcp", "--transport", "http", "--header",
                           f"Authorization: Bearer {server.token}", "--protocol-era", era, "--format", "json", "-q",
                           *options], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector(server, era, tmp_path):
    listed = inspect(server, era, tmp_path, "--method", "tools/list", "--strict")
    assert listed.returncode == 0, listed.stderr
    assert "Warning" not in listed.stderr and "Error" not in listed.stderr
    assert json.loads(listed.stdout)["result"]["tools"][0]["name"] == "execute_code"

    called = inspect(server, era, tmp_path, "--method", "tools/call", "--tool-name", "execute_code", "--tool-args-json",
                     json.dumps({"code": "print('hi')\n[n] * 2", "inputs": {"n": 3}}))
    result = json.loads(called.stdout)["result"]
    assert called.returncode == 0 and result["structuredContent"]["value"] == [3, 3]


def test_a_client_without_the_token(server, tmp_path):
    wrong = web.Server.__new__(web.Server)
    wrong.url, wrong.token = server.url, "wrong"
    done = inspect(wrong, "legacy", tmp_path, "--method", "tools/list")
    assert done.returncode != 0 and "execute_code" not in done.stdout


def test_inspector_load(server, tmp_path):
    done = inspect(server, "modern", tmp_path, "--method", "tools/call", "--tool-name", "execute_code", "--tool-args-json",
                   '{"code": "1 + 1"}', "--load", "--load-requests", "300", "--load-concurrency", "10")
    report = json.loads(done.stdout)["result"]
    assert (report["ok"], report["errors"], report["toolErrors"]) == (300, 0, 0)
