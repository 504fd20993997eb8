#--- write_and_read
from pathlib import Path

path = Path("notes.txt")
path.write_text("first\nsecond\n", encoding="utf-8")
with path.open("a", encoding="utf-8") as f:
    f.write("third\n")
lines = path.read_text(encoding="utf-8").splitlines()
print(lines, path.stat().st_size)
assert lines[-1] == "third"
path.unlink()
assert not path.exists()
#--- directory_tree
from pathlib import Path

root = Path("project")
for name in ("src/main.py", "src/util/helper.py", "README.md"):
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"# {file.stem}\n")


def show(path, depth=0):
    print("  " * depth + path.name)
    if path.is_dir():
        for child in sorted(path.iterdir()):
            show(child, depth + 1)


show(root)
found = sorted(p.relative_to(root).as_posix() for p in root.rglob("*.py"))
assert found == ["src/main.py", "src/util/helper.py"]
#--- path_parts
from pathlib import Path, PurePosixPath

p = PurePosixPath("/usr/share/data/archive.tar.gz")
print(p.name, p.stem, p.suffix, p.suffixes, p.parent, p.parts[:2])
assert p.with_suffix(".zip").name == "archive.tar.zip" and p.is_absolute()
assert Path("a") / "b" / "c" == Path("a/b/c")
assert p.relative_to("/usr") == PurePosixPath("share/data/archive.tar.gz")
#--- csv_file
from pathlib import Path

path = Path("table.csv")
rows = [("id", "name"), (1, "ann"), (2, "bo")]
path.write_text("\n".join(",".join(map(str, row)) for row in rows))
with path.open() as f:
    header = next(f).strip().split(",")
    records = [dict(zip(header, line.strip().split(","))) for line in f]
print(records)
assert records[1] == {"id": "2", "name": "bo"}
#--- json_file
import json
from pathlib import Path

store = Path("store.json")


def load():
    return json.loads(store.read_text()) if store.exists() else {}


def save(data):
    store.write_text(json.dumps(data, indent=2))


data = load()
data["count"] = data.get("count", 0) + 1
save(data)
with store.open() as f:
    assert json.load(f) == {"count": 1}
print(load())
#--- binary_file
from pathlib import Path

path = Path("data.bin")
path.write_bytes(bytes(range(256)))
with path.open("r+b") as f:
    f.seek(10)
    f.write(b"\xff\xff")
    f.seek(0)
    head = f.read(12)
print(head.hex())
assert path.read_bytes()[10:13] == b"\xff\xff\x0c"
#--- glob_sizes
from pathlib import Path

folder = Path("logs")
folder.mkdir()
for i in range(5):
    (folder / f"day{i}.log").write_text("x" * i * 10)
sizes = {p.name: p.stat().st_size for p in sorted(folder.glob("*.log"))}
big = [name for name, size in sizes.items() if size >= 30]
print(sizes, big)
for p in folder.iterdir():
    p.unlink()
folder.rmdir()
assert big == ["day3.log", "day4.log"]
#--- rename_and_touch
from pathlib import Path

a = Path("a.txt")
a.touch()
b = a.rename("b.txt")
assert b.exists() and not a.exists() and b.read_text() == ""
print(b.resolve().name, b.is_file())
#--- line_numbers
from pathlib import Path

source = Path("code.txt")
source.write_text("def f():\n    return 1\n\n# end\n")
with source.open() as f:
    numbered = [f"{n:>3} {line.rstrip()}" for n, line in enumerate(f, 1) if line.strip()]
print("\n".join(numbered))
assert len(numbered) == 3
#--- environment_read
import os

home = os.environ.get("HOME", "/nowhere")
path = os.environ["PATH"] if "PATH" in os.environ else ""
print(bool(home), len(path.split(":")) >= 1, sorted(os.environ)[:0])
debug = os.environ.get("DEBUG", "0") == "1"
assert debug is False
#--- environment_copy
import os

settings = dict(os.environ)
settings["MODE"] = "test"
names = [name for name, value in os.environ.items() if value]
print("MODE" in os.environ, settings["MODE"], isinstance(names, list))
assert "MODE" not in os.environ
#--- lexical_paths
import os
from os.path import basename, dirname, join, splitext

p = join("data", "2024", "report.final.csv")
root, ext = splitext(basename(p))
print(p, dirname(p), root, ext, os.path.normpath("a/../b//c"))
assert (root, ext) == ("report.final", ".csv")
assert os.path.join("/base", "file.txt") == "/base/file.txt" and os.path.isabs("/x")
#--- from_os_import
from os import environ, path

where = path.join(environ.get("HOME", "/"), "file.txt")
print(path.split(where)[1])
assert path.commonprefix(["/a/b", "/a/c"]) == "/a/"
#--- path_alias
import os.path as p

print(p.join("a", "b"), p.dirname("/x/y/z"))
assert p.splitext("name.tar.gz") == ("name.tar", ".gz")
#--- local_called_os
systems = ["linux", "bsd", "plan9"]
for os in systems:
    print(os.upper())
os = {"name": os, "system": "toy"}
print(os["system"], os.get("release", "none"))
#--- attribute_called_os
class Machine:
    def __init__(self, os, system="x86"):
        self.os = os
        self.system = system

    def label(self):
        return f"{self.os}/{self.system}"


m = Machine(os="linux")
print(m.label(), m.os.title(), m.system)
assert m.label() == "linux/x86"
