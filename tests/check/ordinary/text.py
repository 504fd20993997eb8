#--- caesar
def shift(text, by):
    out = []
    for c in text:
        if c.isalpha():
            base = ord("A") if c.isupper() else ord("a")
            c = chr((ord(c) - base + by) % 26 + base)
        out.append(c)
    return "".join(out)


secret = shift("Attack at Dawn!", 3)
print(secret)
assert shift(secret, -3) == "Attack at Dawn!"
#--- word_wrap
def wrap(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    if line:
        lines.append(line)
    return lines


text = "the quick brown fox jumps over the lazy dog and runs away"
for line in wrap(text, 20):
    print(f"|{line:^20}|")
assert all(len(line) <= 20 for line in wrap(text, 20))
#--- palindromes
def is_palindrome(text):
    letters = [c.casefold() for c in text if c.isalnum()]
    return letters == letters[::-1]


for text in ("A man, a plan, a canal: Panama", "hello", ""):
    print(repr(text), is_palindrome(text))
assert is_palindrome("Was it a car or a cat I saw?")
#--- anagram_groups
from collections import defaultdict

words = ["listen", "silent", "enlist", "google", "elgoog", "abc"]
groups = defaultdict(list)
for word in words:
    groups["".join(sorted(word))].append(word)
print([g for g in groups.values() if len(g) > 1])
assert len(groups) == 3
#--- run_length
from itertools import groupby


def encode(text):
    return "".join(f"{len(list(group))}{char}" for char, group in groupby(text))


def decode(text):
    out, number = "", ""
    for c in text:
        if c.isdigit():
            number += c
        else:
            out += c * int(number)
            number = ""
    return out


packed = encode("aaabccdddd")
print(packed)
assert packed == "3a1b2c4d" and decode(packed) == "aaabccdddd"
#--- levenshtein
def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


print(distance("kitten", "sitting"))
assert distance("kitten", "sitting") == 3 and distance("", "abc") == 3
#--- table_layout
rows = [("Name", "Qty", "Price"), ("Apples", 3, 1.5), ("Bananas", 12, 0.25)]
widths = [max(len(str(row[i])) for row in rows) for i in range(3)]
for row in rows:
    print("  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                    for i, (cell, w) in enumerate(zip(row, widths))))
assert widths == [7, 3, 5]
#--- format_fields
print("{0} and {1}, {0} again".format("spam", "eggs"))
print("{name:>10}|{age:<5}|".format(name="Ann", age=3))
print("{!r} {:.2f} {:,}".format("x", 3.14159, 1234567))
print("{:*^15}".format("centre"), "{{literal}}".format())
assert "{:05d}|{:+}|{:x}".format(42, 7, 255) == "00042|+7|ff"
#--- f_string_forms
value, width, name = 3.14159, 10, "pi"
print(f"{name=} {value:{width}.2f} {value!r:>8.4} {{braces}} {'nested ' + name}")
total = 1234567.891
assert f"{total:,.2f}" == "1,234,567.89"
assert f"{0.256:.1%} {255:#x} {5:03b}" == "25.6% 0xff 101"
#--- percent_formatting
row = ("widget", 7, 2.5)
print("%-10s|%3d|%6.2f" % row)
print("%(a)s-%(b)05d" % {"a": "x", "b": 42})
assert "%s %% %r" % ("a", "b") == "a % 'b'"
#--- translate_table
table = str.maketrans({"é": "e", "ñ": "n", "ø": "oe", "ß": "ss"})
text = "Straße, señor, café, bjørk".lower().translate(table)
print(text)
assert text == "strasse, senor, cafe, bjoerk"
assert "a-b_c".translate(str.maketrans("-_", "  ")).split() == ["a", "b", "c"]
#--- slugify
import re


def slug(title, limit=30):
    words = re.findall(r"[a-z0-9]+", title.lower())
    out = ""
    for word in words:
        if len(out) + len(word) + 1 > limit:
            break
        out += ("-" if out else "") + word
    return out


print(slug("Hello, World! This is 2024: the long title"))
assert slug("A  b!") == "a-b"
#--- morse
CODE = {"A": ".-", "B": "-...", "E": ".", "H": "....", "L": ".-..", "O": "---", "S": "..."}
BACK = {v: k for k, v in CODE.items()}
message = " ".join(CODE[c] for c in "HELLO")
print(message)
assert "".join(BACK[m] for m in message.split()) == "HELLO"
#--- longest_common_prefix
def prefix(words):
    common = []
    for letters in zip(*words):
        if len(set(letters)) > 1:
            break
        common.append(letters[0])
    return "".join(common)


print(prefix(["flower", "flow", "flight"]))
assert prefix(["dog", "car"]) == "" and prefix(["a"]) == "a"
#--- unified_diff_by_hand
old = ["a", "b", "c", "d"]
new = ["a", "x", "c", "d", "e"]


def lcs(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            table[i][j] = table[i + 1][j + 1] + 1 if a[i] == b[j] else max(table[i + 1][j], table[i][j + 1])
    return table


table, i, j, out = lcs(old, new), 0, 0, []
while i < len(old) or j < len(new):
    if i < len(old) and j < len(new) and old[i] == new[j]:
        out.append("  " + old[i])
        i, j = i + 1, j + 1
    elif j == len(new) or (i < len(old) and table[i + 1][j] >= table[i][j + 1]):
        out.append("- " + old[i])
        i += 1
    else:
        out.append("+ " + new[j])
        j += 1
print("\n".join(out))
assert out == ["  a", "- b", "+ x", "  c", "  d", "+ e"]
#--- count_vowels
from collections import Counter

text = "Programming in Python is a pleasure"
vowels = Counter(c for c in text.lower() if c in "aeiou")
consonants = sum(c.isalpha() for c in text) - sum(vowels.values())
print(dict(sorted(vowels.items())), consonants)
assert vowels["a"] == 3
#--- bytes_and_text
raw = "héllo €".encode("utf-8")
print(len(raw), raw.decode("utf-8"), raw.hex(" "))
broken = raw[:2]
assert broken.decode("utf-8", errors="replace").endswith("\ufffd")
assert b"\x00\x01".hex() == "0001" and bytes.fromhex("ff00") == b"\xff\x00"
assert "naïve".encode("ascii", "ignore") == b"nave"
#--- ini_parser
text = """
; comment
[server]
host = example.org
port = 80

[paths]
root = /var/www
"""
config, section = {}, None
for line in text.splitlines():
    line = line.strip()
    if not line or line[0] in ";#":
        continue
    if line.startswith("[") and line.endswith("]"):
        section = config.setdefault(line[1:-1], {})
    else:
        key, _, value = line.partition("=")
        section[key.strip()] = value.strip()
print(config)
assert config["server"]["port"] == "80"
#--- pig_latin
def pig(word):
    for i, c in enumerate(word):
        if c in "aeiou":
            return word[i:] + word[:i] + ("way" if i == 0 else "ay")
    return word + "ay"


print(" ".join(pig(w) for w in "this is an example".split()))
assert pig("string") == "ingstray"
#--- numbers_to_words
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " \
       "sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def words(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        tens, one = divmod(n, 10)
        return TENS[tens - 2] + (f"-{ONES[one]}" if one else "")
    if n < 1000:
        hundreds, rest = divmod(n, 100)
        return f"{ONES[hundreds]} hundred" + (f" and {words(rest)}" if rest else "")
    thousands, rest = divmod(n, 1000)
    return f"{words(thousands)} thousand" + (f" {words(rest)}" if rest else "")


print(words(42), "|", words(12345))
assert words(101) == "one hundred and one"
#--- report_template
LINE = "{name:<12}{score:>6.1f}"
scores = {"Ann": 91.25, "Bo": 78.0}
lines = [LINE.format(name=n, score=s) for n, s in scores.items()]
print("\n".join(lines))
assert lines[1] == "Bo            78.0"
