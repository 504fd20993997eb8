"""A list or choice that decides what is held, and that is empty, misspelt or of the wrong type, is refused by name, on
the command line, in the configuration and in a request. It is never taken for "allow all"."""
import json

import pytest
from box import PYTHON, batch, glovebox

POLICY_LISTS = ("allow_import", "block_import", "allow_builtin", "block_builtin", "allow_os_attr")
CHOICES = ("policy", "patterns", "isolation", "network")
# Nothing of these says what the list is to be. "=" alone does: it empties the list.
NO_LIST = ["", "json", " ", 5, True, None, {}, {"json": True}, [""], [" "], ["json "], [" json"], [None], [5],
           [["json"]], ["json", ""], ["=", ""], ["json,csv"], ["*"]]
NO_CHOICE = ["", " ", "nonsense", "Strict", "NONE", "off ", " none", 5, True, None, [], ["strict"], {}]
MISSPELT = [("block_builtin", "opn"), ("block_builtin", "Eval"), ("allow_builtin", "prnit"), ("block_import", "Socket"),
            ("block_import", "OS"), ("allow_import", "JSON")]


def refused(done, key):
    assert done.returncode == 2 and "ran" not in done.stdout, (done.stdout, done.stderr)
    assert key in done.stderr.splitlines()[0], done.stderr


def by_config(tmp_path, settings, *command):
    file = tmp_path / "c.json"
    file.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    return glovebox(*(command or ("run", "-c", "print('ran')")), "--python", PYTHON, "--config", file)


CONFIGURED = [
    *[(key, value) for key in POLICY_LISTS for value in [*NO_LIST, []]],
    *[(key, [name]) for key, name in MISSPELT],
    *[(key, value) for key in (*CHOICES, "approve", "capture") for value in NO_CHOICE],
    *[(key, value) for key in ("allow", "deny", "allow_command") for value in ("", " ", 5, {}, [""], [None], [["ls"]])],
    *[("allow_command", [name]) for name in (" ", "ls ")],
    *[("allow_request", value) for value in ("policy", [""], ["Policy"], ["polcy"], [" policy"], [None], {}, 5)],
    *[("mounts", value) for value in ("", 5, [""], ["/usr:x:"], ["/usr:x:RO"], ["/usr:x:rw "], ["/usr::ro"])],
    *[("tools", value) for value in ("", 5, [""], [None])],
]


def test_configurations(tmp_path):
    """One test, and not three hundred: each takes some ten milliseconds."""
    wrong = []
    for key, value in CONFIGURED:
        done = by_config(tmp_path, {key: value})
        if done.returncode != 2 or "ran" in done.stdout or key not in done.stderr:
            wrong.append((key, value, done.returncode, done.stderr))
    assert wrong == []


@pytest.mark.parametrize("text", ["", " ", "[]", "null", '"policy"', '{"allow_imports": ["json"]}', '{"Policy": "strict"}',
                                  '{"policy ": "strict"}', '{"policy": "strict", "policy": "off"}', '{"policy": "strict"'])
def test_configuration_files(tmp_path, text):
    done = by_config(tmp_path, text)
    assert done.returncode == 2 and "ran" not in done.stdout and done.stderr


def test_requests():
    rows = [*[(key, value) for key in POLICY_LISTS for value in [*NO_LIST, []]],
            *[(key, [name]) for key, name in MISSPELT],
            *[(key, value) for key in CHOICES for value in NO_CHOICE],
            ("policies", ["strict"]), ("Policy", "strict"), ("block_imports", ["json"])]
    allowed = ",".join((*POLICY_LISTS, *CHOICES))
    results = batch([{"code": "print('ran')", key: value} for key, value in rows], "--python", PYTHON,
                    "--allow-request", allowed)
    wrong = [(row, r["status"], r["error"]) for row, r in zip(rows, results)
             if r["status"] != "failed" or r["stdout"] or row[0] not in r["error"]["message"]]
    assert wrong == []


@pytest.mark.parametrize("option", [f"--{key.replace('_', '-')}" for key in (*POLICY_LISTS, *CHOICES, "allow_request")])
@pytest.mark.parametrize("value", ["", " ", ",", "json,", ",json", "json, csv", "json ", "==", "= "])
def test_options(option, value):
    refused(glovebox("run", "--python", PYTHON, option, value, "-c", "print('ran')"), option)


@pytest.mark.parametrize("key, name", MISSPELT)
def test_misspelt_options(key, name):
    option = f"--{key.replace('_', '-')}"
    refused(glovebox("run", "--python", PYTHON, option, name, "-c", "print('ran')"), name)


@pytest.mark.parametrize("option, value", [
    ("--allow", ""), ("--deny", ""), ("--allow-command", ""), ("--allow-command", " "), ("--allow-command", "ls,"),
    ("--allow-command", "ls, cat"), ("--deny", "("), ("--allow", "("),
])
def test_options_of_shells(option, value):
    refused(glovebox("shell", "--python", PYTHON, option, value, "-c", "echo ran"), option)


@pytest.mark.parametrize("settings", [{"allow": []}, {"allow_command": []}])
def test_an_empty_allow_list_allows_nothing(tmp_path, settings):
    """Where an empty list can only mean that, it does."""
    done = by_config(tmp_path, settings, "shell", "-c", "echo ran")
    assert done.returncode == 126 and "ran" not in done.stdout


def test_an_emptied_list_is_legal():
    done = glovebox("run", "--python", PYTHON, "--allow-import", "=", "-c", "import json")
    assert done.returncode == 126 and "json" in done.stderr
