"""examples/agent.py: the loop of an agent, end to end, without a model."""
import importlib.util
import subprocess
import sys

import pytest
from box import GLOVEBOX, PYTHON, ROOT, run_program

EXAMPLE = ROOT / "examples/agent.py"


@pytest.fixture(scope="module")
def agent():
    spec = importlib.util.spec_from_file_location("agent_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["agent_example"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["agent_example"]


def test_whole_conversation(tmp_path):
    """156, 158, 196, 197: in one session: files, tools in a loop, a mistake, a figure that is read back."""
    done = run_program(PYTHON, EXAMPLE, "--glovebox", GLOVEBOX, "--python", PYTHON, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said = [line for line in done.stdout.splitlines() if line.startswith("model: ")]
    assert len(said) == 7 and said[-1].startswith("model: The mean is 18.8, and the chart has ")
    assert "  | error: NameError: name 'sale' is not defined" in done.stdout, "an error is answered by a better try"
    assert "  | stdout: files: ['days.txt']" in done.stdout
    assert '  | value: [{"Mon": 12, "Tue": 19, "Wed": 7, "Thu": 25, "Fri": 31}, ["Sun"]]' in done.stdout
    assert "  | called: units_sold, 6 times" in done.stdout
    assert "  | displayed: image/png, " in done.stdout
    assert "  | file: sales.png, created, " in done.stdout
    assert (tmp_path / "sales.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_it_takes_another_road(tmp_path):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    done = run_program(PYTHON, EXAMPLE, "--glovebox", GLOVEBOX, "--python", tmp_path / "v/bin/python", "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("model: The mean is 18.8, and the chart has 100 x 40 pixels.\n")
    assert (tmp_path / "sales.svg").read_text().startswith("<svg")


def test_a_model_that_never_answers_is_stopped(agent):
    asked = []

    def model(result):
        asked.append(result)
        return agent.Turn("again", "1")

    with agent.Glovebox(GLOVEBOX, "--python", PYTHON) as box, pytest.raises(RuntimeError, match="no answer in"):
        agent.loop(model, box, show=lambda text: None)
    assert asked[0] is None and [it["value"] for it in asked[1:]] == [1] * (agent.TURNS_MAX - 1)


def test_what_the_model_is_told(agent):
    with agent.Glovebox(GLOVEBOX, "--python", PYTHON) as box:
        def told(code):
            return agent.observation(box.run({"code": code}))

        assert told("print('x')\ndisplay(5)\n7") == "status: ok\nstdout: x\nvalue: 7\ndisplayed: 5"
        assert told("1 / 0").endswith("error: ZeroDivisionError: division by zero")
        assert "found: line 1: " in told("def f(:")


def test_a_command_that_is_none(agent):
    with pytest.raises((RuntimeError, OSError)), agent.Glovebox("/bin/false") as box:
        for _ in range(100):
            box.run({"code": "1"})
