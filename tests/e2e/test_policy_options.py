"""Policies by option, configuration file, library and request: who may say what, and who wins."""
import json

import pytest

from box import batch, glovebox, run_json

ORDINARY = "import json\nprint(json.dumps([1]))"


def refused(code, *options):
    """The names that errors are about; [] when it ran."""
    result = run_json(code, *options)
    assert result["status"] in ("ok", "rejected"), result["error"]
    names = [f["name"] for f in result["findings"] if f["severity"] == "error"]
    assert (result["status"] == "rejected") == bool(names)
    return names


# ---- which policy ----

@pytest.mark.parametrize("options, policy", [
    ((), "standard"),
    (("--isolation", "landlock"), "standard"),
    (("--isolation", "process", "--acknowledge-unsafe"), "strict"),
    (("--isolation", "none", "--acknowledge-unsafe"), "strict"),
    (("--isolation", "process", "--acknowledge-unsafe", "--policy", "standard"), "standard"),
    (("--policy", "strict"), "strict"),
    (("--policy", "off"), "off"),
])
def test_the_policy_goes_by_isolation(options, policy):
    result = run_json(ORDINARY, *options)
    assert (result["status"], result["stdout"], result["policy"]) == ("ok", "[1]\n", policy)
    refusals = refused("import subprocess", *options)
    assert refusals == (["subprocess"] if policy == "strict" else [])


# ---- lists ----

@pytest.mark.parametrize("options, code, names", [
    (("--block-import", "json"), "import json", ["json"]),
    (("--block-import", "json"), "from json import loads", ["json"]),
    (("--block-import", "json,csv", "--block-import", "re"), "import json, csv\nimport re",
     ["json", "csv", "re"]),
    (("--policy", "strict"), "import csv", ["csv"]),
    (("--policy", "strict", "--allow-import", "csv"), "import csv, json", []),
    (("--policy", "strict", "--allow-import", "=", "--allow-import", "csv"), "import csv", []),
    (("--policy", "strict", "--allow-import", "=", "--allow-import", "csv"), "import json",
     ["json"]),
    (("--policy", "strict", "--allow-import", "subprocess"), "import subprocess", []),
    (("--policy", "strict", "--allow-import", "subprocess", "--block-import", "subprocess"),
     "import subprocess", ["subprocess"]),
    (("--policy", "strict", "--allow-import", "urllib.parse"), "import urllib.parse", []),
    (("--policy", "strict", "--allow-import", "urllib.parse"), "import urllib.request",
     ["urllib.request"]),
    (("--policy", "strict", "--block-import", "json"), "import json", ["json"]),
    (("--allow-import", "=", "--allow-import", "json"), "import csv", ["csv"]),
    (("--allow-import", "=", "--allow-import", "json"), "import json", []),
    (("--policy", "strict"), "open('f')", ["open"]),
    (("--policy", "strict", "--allow-builtin", "open"), "open('f', 'w').close()", []),
    (("--block-builtin", "print"), "print(1)", ["print"]),
    (("--policy", "strict"), "import os\nos.getcwd()", ["os.getcwd"]),
    (("--policy", "strict", "--allow-os-attr", "getcwd"), "import os\nos.getcwd()", []),
    (("--policy", "strict", "--allow-os-attr", "="), "import os\nos.environ", ["os.environ"]),
])
def test_lists(options, code, names):
    assert refused(code, "--patterns", "off", *options) == names


def test_lists_that_nobody_would_look_at_are_refused():
    done = glovebox("run", "--policy", "off", "--block-import", "socket", "-c", "1")
    assert done.returncode == 2
    assert "--block-import: has no meaning under policy 'off'" in done.stderr
    assert "hint" in done.stderr
    assert one({"code": "1", "block_import": ["socket"]}, "--policy", "off")["status"] == "failed"


@pytest.mark.parametrize("options, is_told", [
    (("--allow-import", "csv"), True), (("--allow-builtin", "open"), True),
    (("--allow-os-attr", "getcwd", "--policy", "standard"), True),
    (("--allow-import", "=,csv"), False), (("--allow-import", "csv", "--policy", "strict"), False),
    (("--block-import", "csv"), False), (("--allow-import", "csv", "--json"), False),
    (("--allow-import", "csv", "--isolation", "process", "--acknowledge-unsafe"), False),
])
def test_a_list_that_changes_nothing_is_told(options, is_told):
    done = glovebox("run", *options, "-c", "1")
    assert done.returncode == 0
    assert (f"note: {options[0]} changes nothing" in done.stderr) == is_told


# ---- the configuration file ----

@pytest.fixture
def configured(tmp_path):
    """Options that name a configuration file with this in it."""
    def write(**keys):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(keys))
        return "--config", path
    return write


def test_the_file_has_the_same_names(configured):
    config = configured(policy="strict", patterns="off", allow_import=["=", "csv", "json"],
                        block_import=["json"], allow_builtin=["open"], block_builtin=["print"],
                        allow_os_attr=["getcwd"])
    assert refused("import csv\nopen", *config) == []
    assert refused("import re", *config) == ["re"]
    assert refused("import json", *config) == ["json"]
    assert refused("print(1)", *config) == ["print"]


def test_the_command_line_adds_to_the_file_and_may_empty_it(configured):
    config = configured(block_import=["json"])
    assert refused("import json, csv", *config, "--block-import", "csv") == ["json", "csv"]
    assert refused("import json, csv", *config, "--block-import", "=",
                   "--block-import", "csv") == ["csv"]


@pytest.mark.parametrize("keys, message", [
    ({"allow_import": "csv"}, "allow_import: must be a list of names"),
    ({"allow_imports": []}, "allow_imports: unknown key"),
    ({"policy": "off", "block_import": ["x"]}, "block_import: has no meaning"),
    ({"patterns": "yes"}, "patterns: must be one of off, warn, block"),
    ({"approve": "no"}, "approve: must be one of never, ask, always"),
    ({"review": 1}, "review: must be a string"),
])
def test_what_a_file_may_not_say(configured, keys, message):
    done = glovebox("run", *configured(**keys), "-c", "1")
    assert done.returncode == 2 and message in done.stderr


# ---- requests ----

def one(request, *options):
    result, = batch([request], *options)
    return result


@pytest.mark.parametrize("keys", [
    {"policy": "strict"}, {"block_import": ["subprocess"]}, {"allow_import": ["=", "json"]},
])
def test_a_request_may_tighten(keys):
    result = one({"code": "import subprocess", **keys})
    assert (result["status"], result["exit_code"]) == ("rejected", 126)
    assert one({"code": ORDINARY, **keys})["status"] == "ok"


@pytest.mark.parametrize("keys, key", [
    ({"policy": "standard"}, "policy"), ({"policy": "off"}, "policy"),
    ({"patterns": "warn"}, "patterns"), ({"patterns": "off"}, "patterns"),
    ({"allow_import": ["subprocess"]}, "allow_import"), ({"allow_import": ["csv"]}, "allow_import"),
    ({"allow_import": ["=", "csv"]}, "allow_import"), ({"block_import": ["="]}, "block_import"),
    ({"allow_builtin": ["open"]}, "allow_builtin"), ({"block_builtin": ["="]}, "block_builtin"),
    ({"allow_os_attr": ["system"]}, "allow_os_attr"),
])
def test_a_request_may_not_loosen(keys, key):
    result = one({"code": "1", **keys}, "--policy", "strict")
    assert (result["status"], result["error"]["type"]) == ("failed", "invalid")
    assert result["error"]["message"].startswith(f"{key}: ") and "looser" in result["error"]["message"]
    assert f'"allow_request": ["{key}"]' in result["error"]["hint"]
    assert one({"code": "1", **keys}, "--policy", "strict", "--allow-request", key)["status"] == "ok"


def test_a_request_cannot_switch_the_review_off():
    for key in ("review", "review_model", "review_key"):
        result = one({"code": "1", key: ""}, "--review", "http://127.0.0.1:1/v1")
        assert result["status"] == "failed" and f"unknown key '{key}'" in result["error"]["message"]


def test_the_order_of_keys_does_not_matter():
    """The patterns that strict comes with are no reason against those that are configured."""
    for request in ({"policy": "strict", "patterns": "warn"}, {"patterns": "warn", "policy": "strict"}):
        assert one({**request, "code": "1"})["status"] == "ok"


# ---- the plan ----

def test_explain_tells_the_rules():
    done = glovebox("run", "--explain", "--policy", "strict", "--allow-import", "csv", "-c", "1")
    rules = json.loads(done.stdout)["check"]
    assert rules["policy"] == "strict" and rules["patterns"] == "block"
    assert {"csv", "json"} <= set(rules["allow_imports"]) and "sys" in rules["block_imports"]
