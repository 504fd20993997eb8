"""Real work in a box: what people have shells do."""
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from test_shell import LEVELS, shell_json

C_PROJECT = {
    "configure": "#!/bin/sh\nset -e\ncc=${CC:-cc}\necho 'int main(void){return 0;}' > conftest.c\n$cc conftest.c -o conftest\n"
                 "./conftest\nrm -f conftest conftest.c\nsed \"s/@CC@/$cc/\" Makefile.in > Makefile\necho configured\n",
    "Makefile.in": "CC = @CC@\nOBJS = a.o b.o c.o d.o main.o\nprog: $(OBJS)\n\t$(CC) -o $@ $(OBJS)\n%.o: %.c\n"
                   "\t$(CC) -O1 -c $<\ncheck: prog\n\ttest \"$$(./prog)\" = 10\n",
    **{f"{n}.c": f"int {n}(void) {{ return {i}; }}\n" for i, n in enumerate("abcd", 1)},
    "main.c": "#include <stdio.h>\nint a(void); int b(void); int c(void); int d(void);\n"
              "int main(void) { printf(\"%d\\n\", a() + b() + c() + d()); return 0; }\n",
}


def work(command, *options, timeout=20):
    result = shell_json(command, "-t", timeout, *options)
    assert result["status"] == "ok", (result["error"], result["stdout"][-2000:], result["stderr"][-2000:])
    return result


def files(tmp_path, contents):
    """As options."""
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755 if text.startswith("#!") else 0o644)
        yield from ("--file", tmp_path / name)


@pytest.fixture
def repository():
    """One with a commit in it, where everybody may read."""
    top = Path(tempfile.mkdtemp(prefix="glovebox-git-", dir="/var/tmp"))
    where = top / "origin"
    where.mkdir()
    top.chmod(0o755)
    git = ["git", "-C", where, "-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    (where / "hello.txt").write_text("hello\n")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(top)}
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *command], check=True, env=env)
    yield where
    shutil.rmtree(top)


@pytest.mark.parametrize("level", LEVELS)
def test_git_clone_and_commit(repository, level):
    origin = "/mnt/origin" if level == "namespaces" else '"$GLOVEBOX_MNT/origin"'
    command = f"""set -e
git config --global user.name Box; git config --global user.email box@example.com
git config --global safe.directory '*'
git clone -q --no-local {origin} copy && cd copy
echo more >> hello.txt && git add -A && git commit -q -m second
git checkout -q -b side && git mv hello.txt bye.txt && git commit -q -m third && git stash list
git log --format=%s; git fsck 2>&1; git gc -q; git status --short"""
    options = ("-m", f"{repository}:origin", "--isolation", level, "--capture", "off")
    result = work(command, *options)
    assert result["stdout"].splitlines()[:3] == ["third", "second", "first"]


@pytest.mark.parametrize("level", LEVELS)
def test_configure_and_make(tmp_path, level):
    command = "sh configure && make -j4 && make check && ./prog"
    options = (*files(tmp_path, C_PROJECT), "--isolation", level)
    result = work(command, *options)
    assert result["stdout"].startswith("configured\n") and result["stdout"].endswith("\n10\n")


@pytest.mark.parametrize("level", LEVELS)
def test_pytest(tmp_path, level):
    suite = {"sums.py": "def add(a, b):\n    return a + b\n",
             "test_sums.py": "import pytest\nfrom sums import add\n\n@pytest.mark.parametrize('n', range(20))\n"
                             "def test_add(n, tmp_path):\n    (tmp_path / 'x').write_text('x')\n    assert add(n, 1) == n + 1\n"}
    result = work("/usr/bin/python3 -m pytest -q", *files(tmp_path, suite), "--isolation", level,
                  "--python", "/usr/bin/python3")
    assert "20 passed" in result["stdout"]


@pytest.mark.parametrize("level", LEVELS)
def test_node(tmp_path, level):
    script = "const fs = require('fs');\nconst {execSync} = require('child_process');\n" \
             "fs.writeFileSync('o.json', JSON.stringify({n: [1, 2, 3].map(x => x * x)}));\n" \
             "setTimeout(() => console.log(JSON.parse(fs.readFileSync('o.json')).n.join(), execSync('echo sub') + ''), 5);\n"
    result = work("node main.js", *files(tmp_path, {"main.js": script}), "--isolation", level, "--memory", "2G")
    assert result["stdout"] == "1,4,9 sub\n\n"


@pytest.mark.parametrize("level", LEVELS)
def test_tar_and_grep_over_ten_thousand_files(level):
    command = """set -e
mkdir tree && cd tree && for d in $(seq 100); do mkdir $d; for f in $(seq 100); do echo "file $d/$f" > $d/$f.txt; done; done
cd .. && tar cf tree.tar tree && tar tf tree.tar | grep -c 'txt$'
grep -rl 'file 42/' tree | wc -l
find tree -name '7.txt' | sort | xargs cat | head -3 | sort
mkdir copy && tar xf tree.tar -C copy 2>/dev/null || true; find copy -type f | wc -l
rm -rf tree copy"""
    result = work(command, "--isolation", level, "--capture", "off", timeout=60)
    lines = result["stdout"].split("\n")
    assert (lines[0], lines[1].strip(), lines[-2].strip()) == ("10000", "100", "10000")


@pytest.mark.parametrize("level", LEVELS)
def test_small_things_that_shells_do(level):
    command = r"""set -e
diff <(printf 'a\nb\n') <(printf 'a\nb\n') && echo same
printf '3\n1\n2\n' | sort -n | tr '\n' ' '; echo
x=$(mktemp) && echo t > "$x" && cat "$x" && rm "$x"
mkfifo p && (echo through > p &) && cat p
coproc { cat; }; echo co >&"${COPROC[1]}"; read -r y <&"${COPROC[0]}"; echo "$y"
awk 'BEGIN { print 6 * 7 }'; echo 'a b' | sed 's/ /-/'; seq 3 | xargs -n1 echo | wc -l
cat <<< "here"; [[ abc =~ b(.) ]] && echo "${BASH_REMATCH[1]}"; date -d @0 -u +%Y; ln -s x link; ls -l link | cut -c1"""
    result = work(command, "--isolation", level)
    assert result["stdout"].split() == "same 1 2 3 t through co 42 a-b 3 here c 1970 l".split()
