"""What the rules by parsed command let pass runs nothing else in a real shell.

Texts are put together at random, from pieces that matter to a shell, with two commands in them:
`ok`, which is allowed, and `bad`, which is not. Those that pass are run by bash, and by dash if they
are for every shell, with nothing else to be found; `bad` leaves a mark.
"""
import os
import random
import shutil
import subprocess

import pytest

from box import BUILD, until

PIECES = ["ok", "ok", "ok x", "bad", "bad x", "$(", ")", "`", "'", '"', "\\", "\n", " ", " ", ";",
          "&&", "||", "|", "&", "(", "{ ", "; }", "$x", "${x:-", "}", "<(", ">(", "> f", "< f",
          "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n", "E", "x=", "x=(", "if ", "; then ", "; fi",
          "for i in ", "; do ", "; done", "while ", "case x in ", "x) ", ";;", " esac", "[[ ", " ]]",
          "f() ", "function f ", "$((", "))", "((", "1", "#", "!", "time ", "$'", "\\'", '\\"', "\\`",
          "\\\n", "${x/", "/", "${x[", "]", "${#", "<<<", "2>&1", "*", "{a,b}", "eval ", "x[1]=",
          "then ", "else ", "-eq ", "\\$", "$", "~", "case $(", "x|ok) ", "esac", "\t", "coproc ",
          "|&", "&>", "exec ", "command ", "@(", " =~ ", " == ", "#'", "]\\\n]", "e\\\nsac", "{x}", "{x[y]}", "\n#",
          "SECONDS=", "OPTIND+=", "'x[$(bad)]'", "\t", "E)"]
# Texts that pass, to be spoiled a little.
BEGINNINGS = [
    "ok 'bad'", "ok \"bad\" bad", "ok bad; ok bad", "ok | ok bad", "ok && ok # bad", "ok \\$(bad)",
    "ok '$(bad)'", "ok \"\\$(bad)\"", "ok '`bad`'", "ok ${x:-bad}", "ok ${x:-'$(bad)'}",
    "ok \"${x:-bad}\"", "ok <<E\nbad\nE\nok", "ok <<'E'\n$(bad)\nE\n", "ok <<-E\n\tbad\n\t" "E\nok",
    "x=bad ok", "x='bad' ok $x", "if ok bad; then ok; else ok bad; fi", "for i in bad ok; do ok $i; done",
    "while ok bad; do exit; done", "case bad in bad) ok;; esac", "case ok in x|bad) ok;; *) ok; esac",
    "ok $(ok bad)", "ok `ok bad`", "ok \"$(ok 'bad')\"", "(ok bad)", "{ ok bad; }", "f() { ok bad; }; f bad",
    "[[ bad == bad ]] && ok", "[[ bad || bad ]]", "[[ x =~ (bad|x) ]]", "ok <(ok bad)", "ok > bad", "ok 2>bad",
    "ok <<< bad", "ok \\\nbad", "ok $'bad'", "x=(bad bad)", "ok {bad,bad}", "ok bad &", "ok ${x/bad/bad}",
    "ok $((1+2)) bad", "((1)) && ok bad", "! ok bad", "ok <<A <<B\nbad\nA\nbad\nB\nok bad",
    "function f { ok bad; }", "ok bad |& ok", "ok bad &> f", "ok \"`ok bad`\"", "ok '\\' bad '\\'",
    "ok \"\\\\\" bad", "ok $(ok <<E\nbad\nE\n) bad", "ok bad\\\\\nok", "ok ${x#'bad'} ${x%bad}",
]
# Those in which bash finds a command where it is easily missed: each of them runs it.
TRAPS = [
    "[[ a == +(x)#$(bad) ]]\n]]", "[[ a =~ (x #$(bad)\n) ]]", "[[ a == @(x ]] #'\n#') || b == b ]] && bad",
    "[[ a =~ (x ]] #'\n#') || b == b ]] && bad", "[[ (b =~ b)#'\n]] && bad x #' ]]", "[[ x ]\\\n] && bad x\n]]",
    "(case x in e\\\nsac | bad)\n:;; esac)", "for SECONDS in 'a[$(bad)]'; do :; done", "RANDOM='a[$(bad)]'",
    "RANDOM+='a[$(bad)]'", "SRANDOM+='a[$(bad)]'", "HISTCMD+='a[$(bad)]'", "OPTIND='a[$(bad)]'",
    "b='x[$(bad)]'; : {a[b]}>/dev/null", ": {PATH}</dev/null; ./bad", "ok $(ok <<'E'\nE)\nbad\nE\n)",
    "ok $(ok <<'E'\nEx) ; bad\nE\n)", "ok <<-E\n$(ok <<'X'\n\tX\nbad\nX\n)\nE\n",
    "ok <<'E' ${x:-<(\nbad\nE\n)}\n",
]
ROUNDS = int(os.environ.get("GLOVEBOX_SHELL_ROUNDS", "2000"))


def spoiled(rng, text):
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randint(0, len(text)) for _ in range(2))
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[min(len(text), at + rng.randint(1, 3)):]
        elif kind == 2:
            text = text[:at] + rng.choice(PIECES) + text[at + 1:]
        else:
            other = rng.choice(BEGINNINGS)
            text = text[:at] + other + text[at:] if rng.random() < 0.5 else text + ";" + other[end:]
    return text


def texts(rng, count):
    for _ in range(count):
        yield spoiled(rng, rng.choice(BEGINNINGS))


def judge(candidates):
    done = subprocess.run([BUILD / "tests/e2e/shell_judge", "ok", "f"], capture_output=True, timeout=120,
                          input=b"".join(t.encode() + b"\0" for t in candidates))
    verdicts = done.stdout.decode().split()
    assert done.returncode == 0 and len(verdicts) == len(candidates), done.stderr
    return verdicts


@pytest.fixture
def tools(tmp_path):
    """`ok`, `f` and `bad`, which leaves a mark."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"bad": f"echo >>{tmp_path / 'mark'}", "ok": "exit 0", "f": "exit 0"}.items():
        folder.joinpath(name).write_text(f"#!/bin/sh\n{text}\n")
        folder.joinpath(name).chmod(0o755)
    return folder


@pytest.mark.parametrize("text", TRAPS)
def test_what_is_easily_missed_is_refused(text, tools, tmp_path):
    subprocess.run(["/bin/bash", "-c", text], cwd=tools, env={"PATH": str(tools)}, stdin=subprocess.DEVNULL, timeout=20,
                   capture_output=True)
    assert until(lambda: tmp_path.joinpath("mark").exists(), 2), "this bash does not run it"
    assert judge([text]) == ["no"]


@pytest.mark.parametrize("seed", range(int(os.environ.get("GLOVEBOX_SHELL_SEEDS", "1"))))
def test_what_passes_runs_nothing_else(seed, tools, tmp_path):
    candidates = [t for t in texts(random.Random(seed), ROUNDS) if "bad" in t]
    verdicts = judge(candidates)
    work, mark = tmp_path / "work", tmp_path / "mark"
    work.mkdir()
    ran = 0
    for text, verdict in zip(candidates, verdicts):
        if verdict == "no":
            continue
        shells = ["/bin/bash"] + [s for s in ["/bin/dash"] if verdict == "sh" and os.path.exists(s)]
        for shell in shells:
            ran += 1
            subprocess.run(["/usr/bin/timeout", "-k", "1", "5", shell, "-c", text], cwd=work,
                           env={"PATH": str(tools)}, stdin=subprocess.DEVNULL, capture_output=True)
            assert not mark.exists(), (shell, text)
    assert ran > ROUNDS / 20, "too little of it passed to say anything"
    until(lambda: mark.exists(), 0.2)  # what was left in the background
    assert not mark.exists()
    shutil.rmtree(work)
