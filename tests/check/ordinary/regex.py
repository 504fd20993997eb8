#--- extract_emails
import re

text = "Write to ann@example.org or bob.smith@mail.example.com; not to @nobody or x@y."
pattern = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
found = pattern.findall(text)
print(found)
assert found == ["ann@example.org", "bob.smith@mail.example.com"]
#--- named_groups_log
import re

line = '127.0.0.1 - - [10/Oct/2023:13:55:36] "GET /index.html HTTP/1.1" 200 2326'
log = re.compile(r'(?P<ip>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<verb>\w+) (?P<path>\S+)[^"]*" '
                 r'(?P<status>\d{3}) (?P<size>\d+)')
m = log.match(line)
entry = m.groupdict()
print(entry)
assert entry["path"] == "/index.html" and int(m["status"]) == 200
#--- substitute_function
import re


def double(match):
    return str(int(match.group()) * 2)


text = "3 apples and 12 pears"
print(re.sub(r"\d+", double, text))
assert re.sub(r"\d+", double, text) == "6 apples and 24 pears"
#--- camel_to_snake
import re


def snake(name):
    step = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", step).lower()


for name in ("HTTPServerError", "getHTTPResponse", "simple"):
    print(name, snake(name))
assert snake("getHTTPResponse") == "get_http_response"
#--- tokenizer
import re

TOKENS = [("NUMBER", r"\d+(?:\.\d*)?"), ("NAME", r"[A-Za-z_]\w*"), ("OP", r"[-+*/()=]"),
          ("SKIP", r"\s+"), ("BAD", r".")]
master = re.compile("|".join(f"(?P<{name}>{regex})" for name, regex in TOKENS))


def tokens(text):
    for m in master.finditer(text):
        if m.lastgroup == "BAD":
            raise SyntaxError(f"unexpected {m.group()!r} at {m.start()}")
        if m.lastgroup != "SKIP":
            yield m.lastgroup, m.group()


print(list(tokens("x = 3.5 * (y + 2)")))
try:
    list(tokens("a $ b"))
except SyntaxError as e:
    print(e)
#--- split_and_keep
import re

text = "one, two;three  four"
print(re.split(r"[,;\s]\s*", text))
print(re.split(r"([,;])", text))
assert re.split(r"[,;\s]+", text) == ["one", "two", "three", "four"]
#--- verbose_pattern
import re

phone = re.compile(r"""
    (?:\+(\d{1,3})[ -]?)?   # country
    \(?(\d{3})\)?[ -]?      # area
    (\d{3})[ -]?(\d{4})     # number
""", re.VERBOSE)
for text in ("+1 (555) 123-4567", "555-123-4567", "not a number"):
    m = phone.search(text)
    print(m.groups() if m else None)
assert phone.search("555 123 4567").group(4) == "4567"
#--- lookahead_password
import re

rules = {
    "length": r".{8,}",
    "digit": r"(?=.*\d)",
    "upper": r"(?=.*[A-Z])",
    "no spaces": r"^\S+$",
}


def problems(password):
    return [name for name, rule in rules.items() if not re.search(rule, password)]


print(problems("abc"), problems("Abcdef12"))
assert problems("Abcdef12") == [] and "digit" in problems("Abcdefgh")
#--- markdown_to_html
import re


def render(text):
    text = re.sub(r"^# (.+)$", r"<h1>\1</h1>", text, flags=re.M)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


print(render("# Title\nSome **bold** and *thin* [link](http://x.org)"))
assert render("**a** *b*") == "<b>a</b> <i>b</i>"
#--- duration_parser
import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def seconds(text):
    if not re.fullmatch(r"(\d+[dhms]\s*)+", text):
        raise ValueError(f"no duration: {text!r}")
    return sum(int(n) * UNITS[u] for n, u in re.findall(r"(\d+)([dhms])", text))


print(seconds("1h 30m"), seconds("2d5s"))
assert seconds("1h 30m") == 5400
try:
    seconds("soon")
except ValueError as e:
    print(e)
#--- template_render
import re


def render(template, values):
    def replace(match):
        key = match.group(1).strip()
        if key not in values:
            raise KeyError(key)
        return str(values[key])
    return re.sub(r"\{\{(.*?)\}\}", replace, template)


print(render("Dear {{ name }}, you owe {{amount}}.", {"name": "Bo", "amount": 12}))
try:
    render("{{x}}", {})
except KeyError as e:
    print("missing", e)
#--- flags_and_unicode
import re

assert re.findall(r"straße", "Straße STRASSE straße", re.IGNORECASE) == ["Straße", "straße"]
words = re.findall(r"\w+", "naïve café – 東京 2024")
print(words)
assert words == ["naïve", "café", "東京", "2024"]
#--- backreference_duplicates
import re

text = "this is is a test test of the the the parser"
print([m.group(1) for m in re.finditer(r"\b(\w+)(?:\s+\1\b)+", text)])
fixed = re.sub(r"\b(\w+)(?:\s+\1\b)+", r"\1", text)
assert fixed == "this is a test of the parser"
#--- url_parts
import re

URL = re.compile(r"^(?P<scheme>[a-z]+)://(?P<host>[^/:?#]+)(?::(?P<port>\d+))?(?P<path>/[^?#]*)?"
                 r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?$")


def parse(url):
    m = URL.match(url)
    if m is None:
        raise ValueError(url)
    parts = m.groupdict(default="")
    parts["query"] = dict(p.split("=", 1) for p in parts["query"].split("&") if "=" in p)
    return parts


p = parse("https://example.org:8080/a/b?x=1&y=two#top")
print(p)
assert p["port"] == "8080" and p["query"] == {"x": "1", "y": "two"}
#--- error_is_caught
import re

for pattern in ("(", "[a", "a{2,1}", "ok"):
    try:
        re.compile(pattern)
        print(pattern, "compiles")
    except re.error as e:
        print(pattern, "does not:", e.msg)
