"""What no reading of a program can tell: under strict, what it writes is not what it imports."""
import pytest
from box import batch
from checker import INTERPRETER

EVIL = "import os\\nprint('reached', os.getpid())\\nFraction = UUID = datetime = None\\n"
WRITTEN = {
    "in place of an allowed module": f"""
from pathlib import Path
Path("fractions.py").write_text("{EVIL}")
import fractions
print(fractions.Fraction(1, 2))
""",
    "as a package": f"""
from pathlib import Path
Path("uuid").mkdir()
Path("uuid/__init__.py").write_text("{EVIL}")
from uuid import UUID
print(UUID(int=1))
""",
    "that the library imports when it is called": f"""
from pathlib import Path
from datetime import datetime
Path("_strptime.py").write_text("{EVIL}")
print(datetime.strptime("2024", "%Y").year)
""",
    "that the library imports if it is there": f"""
from pathlib import Path
Path("org/python").mkdir(parents=True)
Path("org/python/core.py").write_text("{EVIL}")
import dataclasses
print(dataclasses.MISSING is None)
""",
}


@pytest.fixture(scope="module")
def results():
    answers = batch([{"code": code} for code in WRITTEN.values()], "--policy", "strict", "--python", INTERPRETER)
    return dict(zip(WRITTEN, answers))


@pytest.mark.parametrize("name", WRITTEN)
def test_written_modules_are_not_imported(name, results):
    """Each program passes the check, since nothing in it is forbidden; it gets the real library."""
    result = results[name]
    assert "reached" not in result["stdout"]
    assert (result["status"], result["stderr"]) == ("ok", ""), result["error"]


def test_standard_imports_from_the_workspace():
    code = "from pathlib import Path\nPath('mine.py').write_text('x = 42')\nimport mine\nmine.x"
    result, = batch([code], "--python", INTERPRETER)
    assert result["value"] == 42, result["error"]
