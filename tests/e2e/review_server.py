"""A reviewer that misbehaves on request: a chat endpoint for test_review.py, a process of its own.

    review_server.py [CERTIFICATE KEY]      with two files: over TLS

It prints the port that it listens on. The first part of a URL's path says how to answer (the
functions below), so a base URL is http://127.0.0.1:PORT/good/v1. Whatever was asked is
remembered: GET /requests gives it.
"""
import base64
import email.utils
import gzip
import json
import socket
import ssl
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECURE = {"is_secure": True, "reason": "adds two numbers"}
INSECURE = {"is_secure": False, "reason": "line 1 reads a key"}
HANG_S = 60

requests = []
lock = threading.Lock()


def completion(content, **more):
    if not isinstance(content, str):
        content = json.dumps(content)
    return {"id": "c1", "object": "chat.completion", "model": "reviewer-2",
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}, **more}


def reply(h, body, status=200, headers=(), content_type="application/json"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    h.send_response(status)
    h.send_header("Content-Type", content_type)
    h.send_header("Content-Length", str(len(data)))
    for name, value in headers:
        h.send_header(name, value)
    h.end_headers()
    h.wfile.write(data)


def raw(h, *pieces, pause=0.0):
    """Bytes as they are, then the end of the connection."""
    for piece in pieces:
        h.wfile.write(piece)
        h.wfile.flush()
        time.sleep(pause)
    h.close_connection = True


def until_gone(h):
    """Wait for the other side to give up."""
    h.connection.settimeout(HANG_S)
    try:
        while h.connection.recv(4096):
            pass
    except OSError:
        pass
    h.close_connection = True


def flood(h, start, piece):
    """Send without end; remember that the other side stopped it."""
    try:
        h.wfile.write(start)
        end = time.monotonic() + HANG_S
        while time.monotonic() < end:
            h.wfile.write(piece)
    except OSError:
        h.entry["stopped"] = True
    h.close_connection = True


def reset(h):
    h.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.close_connection = True


def complain(h, status, message, headers=()):
    reply(h, {"error": {"message": message, "type": "x", "code": None}}, status, headers)


def first_then_good(first):
    return lambda h: first(h) if h.count == 1 else reply(h, completion(SECURE))


def choosy(*refused):
    """A server that does not know these parts of a request."""
    def answer(h):
        for part in refused:
            if part in h.entry["body"]:
                return complain(h, 400, f"Unsupported parameter: '{part}'")
        return reply(h, completion(SECURE))
    return answer


def unknown_part(h):
    """The same, and it does not say which."""
    if len(h.entry["body"]) > 2:
        return reply(h, {"detail": [{"msg": "extra fields not permitted"}]}, 422)
    return reply(h, completion(SECURE))


def says_key(h):
    return f"you sent {h.headers.get('Authorization', '')}"


def retry_date(h):
    """A date two seconds from now; its fraction is cut off, so at least one second."""
    date = email.utils.formatdate(time.time() + 2, usegmt=True)
    complain(h, 503, "later", [("Retry-After", date)])


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = json.dumps(completion(SECURE)).encode()
RICH = {**INSECURE, "risk_level": "high", "rationale": ["uses os.environ", "sends it away"]}

ANSWERS = {
    "good": lambda h: reply(h, completion(SECURE)),
    "insecure": lambda h: reply(h, completion(INSECURE)),
    "rich": lambda h: reply(h, completion(RICH)),
    "no_reason": lambda h: reply(h, completion({"is_secure": False, "reason": ""})),
    "no_usage": lambda h: reply(h, completion(SECURE, usage=None, model=None)),
    "fenced": lambda h: reply(h, completion("```json\n" + json.dumps(SECURE) + "\n```\n")),
    "html_type": lambda h: reply(h, completion(SECURE), content_type="text/html"),
    "http10": lambda h: raw(h, b"HTTP/1.0 200 OK\r\n\r\n" + GOOD),
    "in_pieces": lambda h: raw(h, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *(
        b"%x\r\n%s\r\n" % (len(p), p) for p in (GOOD[:7], GOOD[7:60], GOOD[60:])), b"0\r\n\r\n",
        pause=0.02),
    "continue": lambda h: raw(h, b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD +
                              b"Content-Length: %d\r\n\r\n" % len(GOOD) + GOOD),

    # answers that are none
    "not_json": lambda h: reply(h, b"{\"choices\": ["),
    "empty": lambda h: reply(h, b""),
    "array": lambda h: reply(h, [completion(SECURE)]),
    "no_choices": lambda h: reply(h, {**completion(SECURE), "choices": []}),
    "no_content": lambda h: reply(h, completion("")),
    "prose": lambda h: reply(h, completion("It is secure.")),
    "string_bool": lambda h: reply(h, completion({"is_secure": "true", "reason": "r"})),
    "no_bool": lambda h: reply(h, completion({"reason": "r"})),
    "nested": lambda h: reply(h, completion({"verdict": SECURE})),
    "list": lambda h: reply(h, completion([SECURE])),
    "two_fences": lambda h: reply(h, completion(
        "```json\n{}\n```\n```json\n" + json.dumps(SECURE) + "\n```")),
    "twice": lambda h: reply(h, completion('{"is_secure":false,"is_secure":true,"reason":""}')),
    "gzip": lambda h: reply(h, gzip.compress(GOOD), headers=[("Content-Encoding", "gzip")]),
    "bad_utf8": lambda h: reply(h, GOOD.replace(b"numbers", b"\xff\xfe")),
    "http09": lambda h: raw(h, GOOD),
    "not_http": lambda h: raw(h, b"SSH-2.0-OpenSSH_9.2\r\n"),
    "bad_chunks": lambda h: raw(h, HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZZ\r\n" + GOOD),
    "cut_chunks": lambda h: raw(h, HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" %
                                len(GOOD) + GOOD),
    "cut": lambda h: raw(h, HEAD + b"Content-Length: %d\r\n\r\n" % (len(GOOD) + 10) + GOOD),
    "cut_headers": lambda h: raw(h, HEAD),
    "closes": lambda h: raw(h),
    "resets": reset,
    "created": lambda h: reply(h, completion(SECURE), 201),
    "nothing": lambda h: reply(h, b"", 204),

    # too much, too slow
    "huge": lambda h: flood(h, HEAD + b"Content-Length: 10000000\r\n\r\n", b" " * 65536),
    "huge_unannounced": lambda h: flood(h, HEAD + b"Connection: close\r\n\r\n", b" " * 65536),
    "huge_chunked": lambda h: flood(h, HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
                                    b"10000\r\n" + b" " * 65536 + b"\r\n"),
    "huge_error": lambda h: flood(h, b"HTTP/1.1 500 No\r\n\r\n", b" " * 65536),
    "huge_headers": lambda h: flood(h, HEAD, b"X-More: " + b"x" * 1000 + b"\r\n"),
    "endless_continue": lambda h: flood(h, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "hang": until_gone,
    "hang_late": lambda h: (h.wfile.write(HEAD + b"Content-Length: 9\r\n\r\n{"), until_gone(h)),
    "drip": lambda h: raw(h, HEAD, *(b"x" for _ in range(1000)), pause=0.05),
    "drip_body": lambda h: raw(h, HEAD + b"Content-Length: 1000\r\n\r\n",
                               *(b" " for _ in range(1000)), pause=0.05),
    "hang_once": first_then_good(until_gone),

    # refusals
    "400": lambda h: complain(h, 400, "context too long"),
    "401": lambda h: complain(h, 401, "Incorrect API key provided: " + says_key(h)),
    "403": lambda h: complain(h, 403, says_key(h)),
    "404": lambda h: complain(h, 404, "no such model"),
    "429": lambda h: complain(h, 429, "slow down"),
    "429_once": first_then_good(lambda h: complain(h, 429, "slow", [("Retry-After", "1")])),
    "429_long": lambda h: complain(h, 429, "slow", [("Retry-After", "3600")]),
    "503_date_once": first_then_good(retry_date),
    "408_once": first_then_good(lambda h: complain(h, 408, "slow")),
    "500": lambda h: complain(h, 500, "out of order"),
    "500_once": first_then_good(lambda h: complain(h, 500, "out of order")),
    "500_html": lambda h: reply(h, b"<html>\x1b[2J", 502, content_type="text/html"),
    "bad_once": first_then_good(lambda h: reply(h, completion("hm"))),
    "reset_once": first_then_good(reset),
    "redirect": lambda h: reply(h, b"", 307, [("Location", "/good/v1/chat/completions")]),
    "redirect_file": lambda h: reply(h, b"", 302, [("Location", "file:///etc/passwd")]),
    "says_key": lambda h: complain(h, 404, says_key(h)),
    "says_key_reason": lambda h: reply(h, completion({
        "is_secure": False, "reason": says_key(h), "more": {says_key(h): [says_key(h)]}},
        model=says_key(h))),
    "no_format": choosy("response_format"),
    "no_temperature": choosy("temperature"),
    "neither": choosy("temperature", "response_format"),
    "unknown_part": unknown_part,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with lock:
            reply(self, requests)

    def do_POST(self):
        if self.path.startswith("/early/"):  # gone while the other side still writes
            return reset(self)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = self.path.split("/")[1]
        self.entry = {"path": self.path, "headers": self.headers.items(), "at": time.monotonic(), "from": self.client_address[1],
                      "body": json.loads(body), "raw": base64.b64encode(body).decode()}
        with lock:
            requests.append(self.entry)
            self.count = sum(r["path"] == self.path for r in requests)
        ANSWERS[name](self)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that left is what we test
            super().handle_error(request, address)

    def finish_request(self, request, address):
        if context:  # here and not in accept: a client that never shakes hands holds one thread
            request.settimeout(HANG_S)
            request = context.wrap_socket(request, server_side=True)
        super().finish_request(request, address)
        if context:
            try:
                request.unwrap()
            except (OSError, ValueError):
                pass
            request.close()


context = None
if len(sys.argv) == 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[1:])
server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
