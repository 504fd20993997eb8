"""The programs of the corpora.

bypass/: one program a file. The first comment says by which road it goes; `# reaches:` what it ends
up with in REACHED, a dotted name or words; `# proof:` an expression that shows it, where the words
are no name; `# needs:` the first version of Python that has the road, or the first and the last.

ordinary/: several programs a file, each after a line `#--- its name`, with `# needs:` where it must.
"""
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent


def version(text):
    return tuple(map(int, text.split(".")))


class Program:
    def __init__(self, name, text):
        self.name, self.text = name, text
        self.reaches, self.proof, self.needs = (self.field(f) for f in ("reaches", "proof", "needs"))

    def field(self, name):
        found = re.search(rf"(?m)^# {name}: (.+)$", self.text)
        return found and found[1]

    def runs_on(self, python):
        first, _, last = (self.needs or "3.9").partition("-")
        return version(first) <= python <= (version(last) if last else python)

    def __repr__(self):
        return self.name


def bypass():
    return [Program(file.stem, file.read_text("utf-8"))
            for file in sorted((HERE / "bypass").glob("*.py"))]


def ordinary():
    programs = []
    for file in sorted((HERE / "ordinary").glob("*.py")):
        pieces = re.split(r"(?m)^#--- (\S+)\n", file.read_text("utf-8"))
        assert not pieces[0].strip(), f"{file}: text before the first program"
        programs += [Program(f"{file.stem}/{name}", text)
                     for name, text in zip(pieces[1::2], pieces[2::2])]
    return programs
