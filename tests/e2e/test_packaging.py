"""What is shipped beside the program is what others' programs take."""
import http.client
import json
import re
import socket
import ssl
import subprocess
from contextlib import contextmanager

import box
import web

PACKAGING = box.ROOT / "packaging"


def test_the_unit(tmp_path):
    """systemd reads it, all of it, and its command line is one that glovebox takes."""
    text = (PACKAGING / "glovebox.service").read_text()
    command = re.search(r"^ExecStart=(\S+) (.*)$", text, re.M)
    assert command[1] == "/usr/local/bin/glovebox"
    unit = tmp_path / "glovebox.service"
    unit.write_text(text.replace(command[1], str(box.GLOVEBOX)))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--generators=no", unit], capture_output=True, text=True,
                          env={**box.ENV, "SYSTEMD_UNIT_PATH": f"{tmp_path}:/usr/lib/systemd/system"}, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    words = command[2].replace("%S", str(tmp_path)).replace("127.0.0.1:8377", "999999").split()
    refused = box.glovebox(*words)  # an address that is none: everything else was understood
    assert refused.returncode == 2 and "999999" in refused.stderr, refused.stderr


# ---- nginx in front ----

@contextmanager
def nginx(server, certs, folder):
    """The example with its addresses and files changed; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    site = (PACKAGING / "nginx.conf").read_text()
    for before, after in [("127.0.0.1:8377", f"127.0.0.1:{server.port}"), ("listen 443", f"listen 127.0.0.1:{port}"),
                          ("/etc/ssl/box.example.org.pem", str(certs["good"][0])),
                          ("/etc/ssl/private/box.example.org.key", str(certs["good"][1]))]:
        assert before in site
        site = site.replace(before, after)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "scgi", "uwsgi"))
    (folder / "site.conf").write_text(site)
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log stderr;"
        f"events {{}} http {{ access_log off; {temporary} include {folder}/site.conf; }}")
    process = subprocess.Popen(["/usr/sbin/nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", "stderr"],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        def answers():
            assert process.poll() is None, process.stderr.read()
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        assert box.until(answers)
        yield port
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


def test_the_proxy(certs, tmp_path):
    trust = ssl.create_default_context(cafile=certs["authority"][0])
    with web.Server("--allow-host", "box.example.org") as server, nginx(server, certs, tmp_path) as port:
        def ask(method, path, request=None, **headers):
            connection = http.client.HTTPSConnection("localhost", port, context=trust, timeout=30)
            connection.sock = trust.wrap_socket(socket.create_connection(("127.0.0.1", port), 30),
                                                server_hostname="localhost")  # who has no /etc/hosts
            connection.request(method, path, json.dumps(request) if request else None, {
                "Host": "box.example.org", "Content-Type": "application/json", **headers})
            return connection.getresponse()

        token = {"Authorization": f"Bearer {server.token}"}
        assert ask("GET", "/healthz").status == 200
        assert ask("POST", "/v1/run", {"code": "1"}).status == 401
        assert ask("GET", "/metrics", **token).status == 404
        assert ask("POST", "/v1/run", {"code": "1"}, **{**token, "Host": "elsewhere.example.org"}).status == 403
        assert json.load(ask("POST", "/v1/run", {"code": "6 * 7"}, **token))["value"] == 42
        stream = ask("POST", "/v1/run", {"code": web.SLEEP}, **token, Accept="text/event-stream")
        assert stream.readline() == b"event: output\n" and b"up" in stream.readline()  # while it runs
        assert server.running() == 1
        stream.close()
        assert box.until(lambda: server.running() == 0)
