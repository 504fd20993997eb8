#--- checksums
import hashlib

text = b"hello"
for name in ("md5", "sha1", "sha256"):
    print(name, hashlib.new(name, text).hexdigest()[:16])
assert hashlib.sha256(b"").hexdigest().startswith("e3b0c442")
#--- incremental_hash
import hashlib

h = hashlib.blake2b(digest_size=8)
for chunk in (b"a" * 100, b"b" * 100):
    h.update(chunk)
whole = hashlib.blake2b(b"a" * 100 + b"b" * 100, digest_size=8)
print(h.hexdigest())
assert h.digest() == whole.digest()
#--- base64_round_trip
import base64

data = bytes(range(20))
text = base64.b64encode(data).decode("ascii")
print(text, base64.urlsafe_b64encode(b"\xfb\xff"))
assert base64.b64decode(text) == data
assert base64.b32encode(b"hi") == b"NBUQ====" and base64.b16encode(b"\x0f") == b"0F"
#--- data_url
import base64


def data_url(mime, payload):
    return f"data:{mime};base64,{base64.b64encode(payload).decode()}"


def parse(url):
    head, _, body = url.partition(",")
    mime = head[len("data:"):].split(";")[0]
    return mime, base64.b64decode(body)


url = data_url("text/plain", b"hello world")
print(url)
assert parse(url) == ("text/plain", b"hello world")
#--- uuid_use
import uuid

a, b = uuid.uuid4(), uuid.uuid4()
fixed = uuid.uuid5(uuid.NAMESPACE_DNS, "example.org")
print(fixed, a.version, len(a.hex))
assert a != b and uuid.UUID(str(a)) == a and fixed == uuid.uuid5(uuid.NAMESPACE_DNS, "example.org")
#--- hash_chain
import hashlib
import json


def block(previous, data):
    body = {"previous": previous, "data": data}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return {**body, "hash": digest}


chain = [block("0" * 64, "genesis")]
for data in ("a pays b", "b pays c"):
    chain.append(block(chain[-1]["hash"], data))


def intact(chain):
    return all(b["previous"] == a["hash"] and block(b["previous"], b["data"])["hash"] == b["hash"]
               for a, b in zip(chain, chain[1:]))


print(intact(chain))
chain[1]["data"] = "a pays nobody"
assert not intact(chain)
#--- file_fingerprints
import hashlib
from pathlib import Path

for name, text in (("a.txt", "same"), ("b.txt", "same"), ("c.txt", "other")):
    Path(name).write_text(text)
groups = {}
for p in sorted(Path(".").glob("?.txt")):
    groups.setdefault(hashlib.sha256(p.read_bytes()).hexdigest(), []).append(p.name)
duplicates = [names for names in groups.values() if len(names) > 1]
print(duplicates)
assert duplicates == [["a.txt", "b.txt"]]
#--- password_derivation
import hashlib

key = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000)
again = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000)
print(key.hex()[:16])
assert key == again and len(key) == 32
#--- hex_dump
def dump(data, width=8):
    for at in range(0, len(data), width):
        row = data[at:at + width]
        codes = " ".join(f"{b:02x}" for b in row)
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
        yield f"{at:04x}  {codes:<{width * 3}} {shown}"


lines = list(dump(b"Hello\x00World!\xff"))
print("\n".join(lines))
assert lines[0].endswith("Hello.Wo")
