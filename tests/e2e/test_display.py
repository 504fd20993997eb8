"""Rich output: what a program displays, at the end as outputs of its result, or on a terminal as it comes."""
import base64
import json
import struct

import pytest
from box import PYTHON, batch, glovebox, run_json, run_program, running, told

LEVELS = ("namespaces", "landlock")
PNG = b"\x89PNG\r\n\x1a\n"
PLOT = "import matplotlib.pyplot as plt\n"


def displayed(code, *options, **kwargs):
    """The result of a program that must end well."""
    result = run_json(code, "--python", PYTHON, "--timeout", 60, *options, **kwargs)
    assert result["status"] == "ok", (result["status"], result["error"], result["stderr"])
    return result


def outputs(code, *options):
    return displayed(code, *options)["outputs"]


def mimes(result):
    return [it["mime"] for it in result["outputs"]]


def things(result):
    """Outputs by thing: each a list of its forms."""
    found = []
    for it in result["outputs"]:
        if it.get("alternative"):
            found[-1].append(it)
        else:
            found.append([it])
    return found


def size_of_png(output):
    assert output["mime"] == "image/png"
    data = base64.b64decode(output["data"], validate=True)
    assert data.startswith(PNG) and data.endswith(b"IEND\xaeB`\x82")
    return struct.unpack(">II", data[16:24])


# ---- which forms a thing has ----

RICH = """
class Rich:
    def __repr__(self): return "rich"
    def _repr_html_(self): return "<b>é</b>"
    def _repr_markdown_(self): return "**b**"
    def _repr_latex_(self): return "$b$"
    def _repr_svg_(self): return "<svg/>"
    def _repr_png_(self): return b"png", {"width": 5}
    def _repr_jpeg_(self): return bytearray(b"jpeg")
    def _repr_json_(self): return {"b": [1, None]}
    def _repr_pdf_(self): return None
"""


@pytest.mark.parametrize("level", LEVELS)
def test_every_form(level):
    result = displayed(RICH + "display(Rich())", "--isolation", level)
    assert result["isolation"]["level"] == level
    assert len(things(result)) == 1 and result["stderr"] == ""
    forms = {it["mime"]: it["data"] for it in result["outputs"]}
    assert json.loads(forms.pop("application/json")) == {"b": [1, None]}
    assert forms == {
        "text/html": "<b>é</b>", "text/markdown": "**b**", "text/latex": "$b$", "text/plain": "rich",
        "image/svg+xml": "<svg/>", "image/png": base64.b64encode(b"png").decode(),
        "image/jpeg": base64.b64encode(b"jpeg").decode()}
    assert mimes(result)[-1] == "text/plain", "the poorest last"


def test_plain_objects_are_their_repr():
    assert outputs("display('a', 5, [None])\ndisplay()") == [
        {"mime": "text/plain", "data": "'a'"}, {"mime": "text/plain", "data": "5"},
        {"mime": "text/plain", "data": "[None]"}]


def test_bundle():
    code = ("class B:\n    def __repr__(self): return 'r'\n"
            "    def _repr_mimebundle_(self, include=None, exclude=None):\n"
            "        return {'text/plain': 'own', 'Application/Vnd.x+json': {'a': 1},"
            " 'image/png': 'cG5n', 'image/gif': b'gif'}, {'meta': 1}\n"
            "    def _repr_png_(self): return b'second'\ndisplay(B())")
    assert {it["mime"]: it["data"] for it in outputs(code)} == {
        "text/plain": "own", "application/vnd.x+json": '{"a": 1}', "image/png": "cG5n",
        "image/gif": base64.b64encode(b"gif").decode()}


@pytest.mark.parametrize("body, told", [
    ("def _repr_html_(self): raise ValueError('broken')", "_repr_html_ of X: ValueError: broken"),
    ("def _repr_html_(self): return 5", "text/html of X: TypeError"),
    ("def _repr_png_(self): return object()", "image/png of X: TypeError"),
    ("def _repr_json_(self): return {1j: 2}", "application/json of X: TypeError"),
    ("def _repr_mimebundle_(self): return {}", "_repr_mimebundle_ of X: TypeError"),
    ("def __repr__(self): 1 / 0", "repr of X: ZeroDivisionError"),
])
def test_a_form_that_fails_is_a_line_and_the_others_stay(body, told):
    result = displayed(f"class X:\n    {body}\n    def _repr_markdown_(self): return '*m*'\n"
                       "display(X())\nX()\nprint('on')")
    assert result["stderr"].startswith(f"display: {told}") and result["stderr"].count("\n") == 1
    assert mimes(result)[:1] == ["text/markdown"] and result["stdout"] == "on\n"


def test_not_implemented_is_no_failure():
    code = "class X:\n    def _repr_html_(self): raise NotImplementedError\nX()"
    result = displayed(code)
    assert (mimes(result), result["stderr"]) == ([], "")


def test_magic_attributes_are_no_forms():
    code = "from unittest.mock import Mock\nclass Any:\n    def __getattr__(self, name): return 5\n" \
           "display(Any(), Mock(), Any)\nAny()"
    result = displayed(code)
    assert mimes(result) == ["text/plain"] * 3 and result["stderr"] == ""


# ---- the last expression ----

def test_data_frame_is_html_and_text():
    result = displayed("import pandas as pd\npd.DataFrame({'a': [1, 2]})")
    html, text = result["outputs"]
    assert html["mime"] == "text/html" and "<table" in html["data"] and "alternative" not in html
    assert text == {"mime": "text/plain", "data": "   a\n0  1\n1  2", "alternative": True}
    assert result["value"] == text["data"] and result["has_value"]


def test_picture_of_pil():
    result = displayed("from PIL import Image\nImage.new('RGB', (3, 2))")
    assert size_of_png(next(it for it in result["outputs"] if it["mime"] == "image/png")) == (3, 2)


@pytest.mark.parametrize("code, value", [("1 + 1", 2), ("'x'", "x"), ("[1]", [1]), ("None", None),
                                         ("{1}", "{1}"), ("object", "<class 'object'>")])
def test_plain_values_are_not_displayed(code, value):
    result = displayed(code)
    assert (result["outputs"], result["value"]) == ([], value)


def test_only_the_last_expression():
    assert outputs(RICH + "Rich()\nx = Rich()") == []


# ---- figures ----

def test_open_figures_are_displayed_in_the_order_of_their_making():
    code = PLOT + "for n in 1, 2:\n    plt.figure(figsize=(2 * n, 2), dpi=50)\n    plt.plot([n])\nplt.figure(1)\n" \
                  "plt.figure(3)"
    result = displayed(code)
    assert mimes(result) == ["image/png"] * 2, "the third has nothing in it"
    first, second = map(size_of_png, result["outputs"])
    assert first[0] < second[0]


@pytest.mark.parametrize("level", LEVELS)
def test_showing_displays_and_closes(level):
    code = PLOT + "plt.plot([1])\nprint(plt.show())\nprint(plt.get_fignums())\ndisplay('between')\n" \
                  "fig, _ = plt.subplots(2)\nplt.show(block=True)\nplt.show()\nfrom matplotlib.pyplot import show\n" \
                  "show()"
    result = displayed(code, "--isolation", level, "--env", "DISPLAY=:0")
    assert mimes(result) == ["image/png", "text/plain", "image/png"]
    assert result["stdout"] == "None\n[]\n" and "Warning" not in result["stderr"]


def test_a_figure_is_displayed_again_only_if_it_changed():
    code = PLOT + "fig, axes = plt.subplots()\naxes.plot([1, 2])\ndisplay(fig)\n"
    assert mimes(displayed(code)) == ["image/png"]
    assert mimes(displayed(code + "fig.show()\naxes.plot([2, 1])")) == ["image/png"] * 3
    assert mimes(displayed(PLOT + "fig, axes = plt.subplots()\naxes.plot([1])\nfig")) == ["image/png"]


def test_a_figure_of_nobody_is_displayed_when_it_is_asked_for():
    code = "from matplotlib.figure import Figure\nf = Figure(figsize=(2, 2))\nf.subplots().plot([1])\n"
    assert mimes(displayed(code)) == []
    assert mimes(displayed(code + "f")) == mimes(displayed(code + "display(f)")) == ["image/png"]


@pytest.mark.parametrize("end, status", [("1 / 0", "error"), ("raise SystemExit(3)", "error"),
                                         ("raise SystemExit", "ok")])
def test_figures_of_a_program_that_fails(end, status):
    result = run_json(PLOT + f"plt.plot([1])\n{end}", "--python", PYTHON, "--timeout", 60)
    assert (result["status"], mimes(result)) == (status, ["image/png"])


def test_a_figure_that_cannot_be_drawn():
    result = displayed(PLOT + "plt.title('$\\\\frac{$')\nplt.figure()\nplt.plot([1])\n5")
    assert mimes(result) == ["image/png"] and result["value"] == 5
    assert result["stderr"].startswith("display: drawing a figure: ValueError")


def test_no_screen_is_looked_for():
    code = PLOT + "import os, subprocess, sys\n[plt.get_backend().lower(), subprocess.run([sys.executable, '-c'," \
                  " 'import matplotlib; print(matplotlib.get_backend())'], capture_output=True, text=True).stdout]"
    assert [it.strip().lower() for it in displayed(code)["value"]] == ["agg", "agg"]
    assert displayed("import os, matplotlib\n[os.environ['MPLBACKEND'], matplotlib.get_backend()]",
                     "--env", "MPLBACKEND=svg")["value"] == ["svg", "svg"]


def test_figures_of_a_warm_interpreter():
    """Pyplot was imported before anybody's program ran."""
    code = PLOT + "plt.plot([1])\nplt.show()\nplt.plot([2])"
    results = batch(["1", code, code, "display(2)"], "--python", PYTHON, "--preload", "matplotlib.pyplot")
    assert [mimes(it) for it in results] == [[], ["image/png"] * 2, ["image/png"] * 2, ["text/plain"]]
    assert not any("display" in it["stderr"] or "Warning" in it["stderr"] for it in results), results


# ---- what is not there when it is not used ----

def test_display_is_an_ordinary_name():
    assert displayed("def display(x): return x + 1\ndisplay(1)")["value"] == 2
    assert displayed("display", "--input", "display=7")["value"] == 7
    assert displayed("del display\n'display' in globals()")["value"] is False
    assert outputs("x = display\nx(1)", "--policy", "strict")[0]["data"] == "1"
    assert glovebox("check", "--policy", "strict", "-c", "display(1)").returncode == 0
    # also where the name could be taken for a module's
    assert glovebox("check", "--policy", "strict", "--block-import", "display", "-c",
                    "display(1)").returncode == 0


def test_nothing_is_imported_for_it():
    code = "import sys\nbefore = set(sys.modules)\ndisplay(5)\nsorted(set(sys.modules) - before)"
    assert displayed(code)["value"] == []
    assert displayed("import sys\n[m for m in sys.modules if 'matplotlib' in m]")["value"] == []


# ---- order, threads, processes, asyncio ----

@pytest.mark.parametrize("level", LEVELS)
def test_order_on_a_terminal(level):
    code = "import sys\nfor n in range(40):\n    print('p', n, end='')\n    display(n)\n" \
           "    sys.stdout.write('w\\n')"
    done = glovebox("run", "--isolation", level, "--python", PYTHON, "-c", code)
    assert done.stdout == "".join(f"p {n}{n}\nw\n" for n in range(40)) and done.returncode == 0


def test_threads():
    code = "import threading\ndef work(n):\n    for i in range(10): display(f'{n}-{i}-' + 'x' * 100000)\n" \
           "t = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n[x.start() for x in t]\n" \
           "[x.join() for x in t]\n5"
    result = displayed(code)
    texts = [it["data"].strip("'").split("-")[:2] for it in result["outputs"]]
    assert sorted(texts) == sorted([str(n), str(i)] for n in range(8) for i in range(10))
    for n in range(8):
        assert [i for m, i in texts if m == str(n)] == [str(i) for i in range(10)]


def test_threads_that_outlive_the_program():
    code = "import threading, time\ndef late():\n    time.sleep(.2)\n    display('late')\n" \
           "threading.Thread(target=late).start()"
    assert [it["data"] for it in outputs(code)] == ["'late'"]


@pytest.mark.parametrize("level", LEVELS)
def test_asyncio(level):
    code = "import asyncio\nasync def f(n):\n    await asyncio.sleep(n / 20)\n    display(n)\n" \
           "await asyncio.gather(f(2), f(1), f(0))\n" + RICH + "Rich()"
    result = displayed(code, "--isolation", level)
    assert [it["data"] for it in result["outputs"][:3]] == ["0", "1", "2"]
    assert "text/html" in mimes(result)


def test_other_processes_print_instead():
    code = RICH + "import os, sys\nfor n in range(20):\n    pid = os.fork()\n    if pid == 0:\n" \
                  "        display(Rich(), 'x' * 100)\n        sys.stdout.flush()\n        os._exit(0)\n" \
                  "    display(n)\n    os.waitpid(pid, 0)\n5"
    result = displayed(code)
    assert [it["data"] for it in result["outputs"]] == [str(n) for n in range(20)]
    assert result["stdout"].count("rich\n") == 20 and result["value"] == 5


# ---- runs that are killed ----

@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("end, status", [
    ("while True: pass", "timeout"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "crashed"),
    ("import os; os._exit(0)", "ok"),
    ("x = []\nwhile True: x.append(bytearray(1 << 20))", "limit"),
])
def test_a_killed_run_keeps_what_it_had_displayed(level, end, status):
    result = run_json(RICH + "display(Rich())\ndisplay(2)\n" + end, "--isolation", level, "--timeout", 2,
                      "--memory", "64M", "--python", PYTHON)
    assert result["status"] == status and len(things(result)) == 2
    assert things(result)[1][0]["data"] == "2"


# ---- limits ----

BIG = "class Big:\n    def __init__(self, n): self.n = n\n    def _repr_png_(self): return bytes(self.n)\n" \
      "    def __repr__(self): return 'big'\n"


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_too_large_is_a_file(level):
    code = BIG + "import os\nopen('display-1.png', 'w').write('mine')\nos.chdir('/')\ndisplay(Big(4 << 20))\n" \
                 "os.chdir(os.environ['W'])\n" \
                 "[sorted(os.listdir()), os.path.getsize('display-2.png'), open('display-1.png').read()]"
    result = displayed("import os\nos.environ['W'] = os.getcwd()\n" + code, "--isolation", level)
    assert result["value"] == [["display-1.png", "display-2.png"], 4 << 20, "mine"]
    note, plain = result["outputs"]
    assert note == {"mime": "text/plain", "data": "[output omitted: image/png of 5592408 bytes is too large; "
                                                  "written to display-2.png]"}
    assert plain == {"mime": "text/plain", "data": "big", "alternative": True}


def test_as_much_as_fits():
    result = displayed(BIG + "display(Big(3 << 20))\ndisplay(Big((3 << 20) - 6144))")
    assert mimes(result) == ["text/plain", "text/plain", "image/png", "text/plain"]


def test_all_together():
    result = displayed(BIG + "import os\nfor n in range(8): display(Big(2 << 20))\nsorted(os.listdir())")
    assert mimes(result).count("image/png") == 5 and len(things(result)) == 8
    assert result["value"] == ["display-1.png", "display-2.png", "display-3.png"]


def test_text_that_grows_on_the_way():
    """Each byte of it is six in JSON."""
    code = "class Odd:\n    def _repr_html_(self): return '\\1' * (3 << 20)\n    def __repr__(self): return 'odd'\n" \
           "display(Odd())\nimport os\nos.listdir()"
    result = displayed(code)
    assert "text/html of 3145728 bytes is too large" in result["outputs"][0]["data"]
    assert "display-1.html" in result["value"]


def test_repr_is_bounded():
    output, = outputs("display('x' * (1 << 20))")
    assert len(output["data"]) < 66000 and output["data"].endswith("more characters)")


def test_too_many():
    code = RICH + "for n in range(150): display(n)\ndisplay(Rich())\nimport os\nsorted(os.listdir())"
    result = displayed(code)
    assert len(things(result)) == 100 and result["outputs"][98]["data"] == "98"
    assert result["outputs"][99] == {"mime": "text/plain", "data":
                                     "[output omitted: too many were displayed; further pictures are files]"}
    assert result["value"] == ["display-1.jpg", "display-1.png"]


def test_a_full_disk():
    result = displayed(BIG + "display(Big(5 << 20))\nimport os\nos.listdir()", "--isolation", "namespaces",
                       "--disk", "1M")
    assert result["outputs"][0]["data"].endswith((
        "could not be written to a file: [Errno 28] No space left on device]",
        "could not be written to a file: [Errno 27] File too large]"))
    assert result["value"] == [], "half a picture is none"


# ---- what is forged ----

FORGE = """
import json, os, stat, struct
def pipes():
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode): yield fd
        except OSError: pass
def raw(data):
    for fd in pipes():
        try:
            while data: data = data[os.write(fd, data):]
        except OSError: pass
def frame(data, kind=32, length=None):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    raw(struct.pack("<IIQ", kind, len(data) if length is None else length, 0) + data)
"""
NOTE = "[output omitted: "


@pytest.mark.parametrize("form", [
    {"mime": "text", "data": ""}, {"mime": "text/", "data": ""}, {"mime": "/x", "data": ""},
    {"mime": "text/html; charset=x", "data": ""}, {"mime": "text/a/b", "data": ""}, {"mime": "", "data": ""},
    {"mime": "text/é", "data": ""}, {"mime": "text/x\0", "data": ""}, {"mime": "text/\n", "data": ""},
    {"mime": "a" * 99 + "/" + "b" * 99, "data": ""}, {"mime": 5, "data": ""}, {"data": ""},
    {"mime": "text/plain"}, {"mime": "text/plain", "data": {"a": 1}}, {"mime": "text/plain", "data": None},
    {"mime": "image/png", "data": "not base64"}, {"mime": "image/png", "data": "AAA"},
    {"mime": "image/png", "data": "AA=A"}, {"mime": "image/png", "data": "====" }, 5, None, [], "x",
], ids=lambda it: json.dumps(it)[:40])
def test_a_form_that_is_none_is_refused_alone(form):
    good = {"mime": "text/html", "data": "good"}
    result = displayed(FORGE + f"frame({{'forms': [{form!r}, {good!r}]}})\n5")
    bad, other = result["outputs"]
    assert set(bad) == {"mime", "data"} and bad["mime"] == "text/plain" and bad["data"].startswith(NOTE)
    assert other == {**good, "alternative": True} and result["value"] == 5


@pytest.mark.parametrize("thing", [{}, {"forms": []}, {"forms": 5}, {"forms": {}}, {"outputs": [1]}], ids=json.dumps)
def test_a_thing_that_is_none_is_a_note(thing):
    output, = outputs(FORGE + f"frame({thing!r})\n5")
    assert output["data"].startswith(NOTE)


def test_forms_are_counted():
    many = [{"mime": "text/x", "data": ""}] * 1000
    assert len(outputs(FORGE + f"frame({{'forms': {many[:1]!r} * 1000}})\n5")) == 16


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("forgery", [
    "frame(b'')", "frame(b'[]')", "frame(b'{')", "frame(b'\\xff')", "frame(b'{}', length=(4 << 20) + 1)",
    "frame(b'{}', length=2**32 - 1)", "frame(b'{}', kind=33)", "raw(b'x' * 64)",
    "frame(b'[' * 300000 + b']' * 300000)", "frame(b'{\"a\": ' * 200 + b'1' + b'}' * 200)",
])
def test_a_frame_that_is_none_ends_that_run_alone(level, forgery):
    spoiled, other = batch(
        [{"code": f"{FORGE}display(1)\n{forgery}\nimport time\ntime.sleep(10)", "isolation": level}, "display(2)"],
        "--python", PYTHON)
    assert (spoiled["status"], spoiled["error"]["type"]) == ("error", "ProtocolError")
    assert spoiled["outputs"] == [{"mime": "text/plain", "data": "1"}], "what came before stays"
    assert (other["status"], other["outputs"][0]["data"]) == ("ok", "2")


@pytest.mark.parametrize("flood", [
    "for _ in range(5000): frame({'forms': [{'mime': 'text/plain', 'data': 'x'}]})",
    "for _ in range(12): frame({'forms': [{'mime': 'image/png', 'data': 'A' * (4000 << 10)}]})",
])
def test_a_flood_is_cut(flood):
    result = displayed(FORGE + flood + "\n5")
    assert len(result["outputs"]) <= 101 and sum(len(it["data"]) for it in result["outputs"]) <= 16 << 20
    assert result["outputs"][-1] == {"mime": "text/plain",
                                     "data": "[output omitted: more was displayed than a run may]"}
    assert result["value"] == 5


def test_half_a_frame_is_dropped():
    result = run_json(FORGE + "display(1)\nframe(b'{}', length=100)\nimport os\nos._exit(0)", "--python", PYTHON)
    assert (result["status"], len(result["outputs"])) == ("ok", 1)


def test_nothing_can_be_displayed_before_the_program_runs():
    """The check's own frame and the program's: held programs display after they were let go."""
    result = run_json("display(1)", "--approve", "never", "--policy", "strict", "--python", PYTHON)
    assert len(result["outputs"]) == 1
    assert run_json("import os\ndisplay(1)", "--policy", "strict", "--block-import", "os")["outputs"] == []


# ---- the command line, and the library ----

def test_terminal_gets_text_and_a_note(tmp_path):
    code = RICH + "import sys\nprint('one')\ndisplay(Rich())\nsys.stderr.write('half')\n" \
           "class H:\n    def _repr_html_(self): return '<i>'\n    def __repr__(self): return 'aitch'\ndisplay(H())\n" \
           "class P:\n    def _repr_png_(self): return b'png'\nP()"
    done = glovebox("run", "--python", PYTHON, "-c", code, env={"TMPDIR": str(tmp_path)})
    made, = tmp_path.iterdir()
    assert (done.stdout, done.returncode) == ("one\naitch\n", 0) and made.stat().st_mode & 0o777 == 0o700
    assert {it.name: it.read_text() for it in made.iterdir()} == {"figure-1.svg": "<svg/>", "figure-1.png": "png"}
    assert done.stderr == (f"glovebox: figure written to {made}/figure-1.svg\nhalf\n"
                           f"glovebox: figure written to {made}/figure-1.png\n")


def test_a_figure_on_a_terminal(tmp_path):
    done = glovebox("run", "--python", PYTHON, "-c", PLOT + "plt.plot([1])\nplt.show()\nprint('shown')",
                    env={"TMPDIR": str(tmp_path)})
    made, = tmp_path.rglob("*.png")
    assert made.read_bytes().startswith(PNG) and done.stdout == "shown\n"
    assert done.stderr == f"glovebox: figure written to {made}\n"


def test_a_picture_that_cannot_be_written(tmp_path):
    done = glovebox("run", "--python", PYTHON, "-c", BIG + "display(Big(9))\nprint('on')",
                    env={"TMPDIR": str(tmp_path / "gone")})
    assert (done.returncode, done.stdout) == (0, "on\n")
    assert done.stderr == "glovebox: cannot write the figure to a file: No such file or directory\n"


def test_json_writes_no_files(tmp_path):
    result = run_json(BIG + "display(Big(9))", "--python", PYTHON, env={"TMPDIR": str(tmp_path)})
    assert mimes(result) == ["image/png", "text/plain"] and list(tmp_path.iterdir()) == []


def test_nobody_reads():
    """The reader is gone: the program is ended, as for what it prints."""
    with running("run", "--python", PYTHON, "-c", "while True: display('x' * 1000)") as process:
        process.stdout.read(100)
        process.stdout.close()
        assert process.wait(20) == 128 + 13
        process.stdout = None


def test_library_is_told_as_it_comes(library_program):
    said = told(run_program(library_program, "display"))
    assert said["after-3"] == [{"mime": "text/plain", "data": "1"}], "what was printed before came before"
    result = said["result"]
    assert result["status"] == "cancelled" and len(result["outputs"]) == 4
    assert result["outputs"][1:3] == [{"mime": "text/html", "data": "<b>"},
                                      {"mime": "text/plain", "data": "b", "alternative": True}]
    assert said["after-6"] == [{"mime": "text/plain", "data": "'enough'"}]
