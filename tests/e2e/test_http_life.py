"""glovebox serve: where it listens, its token, its end."""
import os
import signal
import stat
import threading
import time

import pytest

import box
import web


def test_a_unix_socket(tmp_path):
    path = tmp_path / "s"
    with web.Server(listen=f"unix:{path}") as server:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert server.run("1 + 1").json()["value"] == 2
        assert server.get("/metrics", {"Authorization": None}).status == 401
        assert server.get("/healthz", {"Host": "whatever.example"}).status == 200
    assert not path.exists()


def test_what_is_in_the_way_of_a_unix_socket(tmp_path):
    path = tmp_path / "s"
    with web.Server(listen=str(path)) as server:
        again = box.glovebox("serve", "--no-auth", "--listen", path)
        assert again.returncode == 125 and "already" in again.stderr
        server.process.kill()
        server.process.wait()
    assert path.exists()  # killed: it could not remove it
    with web.Server(listen=str(path)) as server:
        assert server.get("/healthz").status == 200
    path.write_text("precious")
    assert box.glovebox("serve", "--no-auth", "--listen", path).returncode == 125
    assert path.read_text() == "precious"


def test_the_token_is_made_once_and_never_shown(tmp_path):
    env = {"XDG_STATE_HOME": str(tmp_path), "HOME": "/nonexistent"}
    file = tmp_path / "glovebox/token"
    with box.running("serve", "--listen", "127.0.0.1:0", env={**box.ENV, **env}) as p:
        assert box.until(file.exists)
        line = p.stderr.readline()
        token = file.read_text().strip()
        assert token not in line and f"cat {file}" in line and len(token) >= 40
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        p.terminate()
        assert p.wait(20) == 0
    with box.running("serve", "--listen", "127.0.0.1:0", env={**box.ENV, **env}) as p:
        line = p.stderr.readline()
        assert token not in line and str(file) in line
        p.terminate()
        assert p.wait(20) == 0
    assert file.read_text().strip() == token


@pytest.mark.parametrize("text, mode, part", [
    ("a" * 40, 0o644, "others may read"), ("short", 0o600, "no token"), ("", 0o600, "no token"),
    ("with a space in it", 0o600, "no token"), ("a" * 600, 0o600, "no token"),
])
def test_a_token_file_that_will_not_do(tmp_path, text, mode, part):
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(mode)
    done = box.glovebox("serve", "--listen", "127.0.0.1:0", "--token-file", file)
    assert done.returncode == 2 and part in done.stderr
    assert text == "" or text not in done.stderr


@pytest.mark.parametrize("where", ["", "nonsense", "1.2.3.4", "127.0.0.1:", "127.0.0.1:99999",
                                   "127.0.0.1:x", "[::1:5", "unix:", "unix:" + "x" * 200, ":80",
                                   "300.0.0.1:80", "8377x"])
def test_addresses_that_are_none(where):
    done = box.glovebox("serve", "--no-auth", "--listen", where)
    assert done.returncode == 2, done.stderr


def test_no_token_is_only_for_this_machine():
    done = box.glovebox("serve", "--no-auth", "--listen", "0.0.0.0:0")
    assert done.returncode == 2 and "--no-auth" in done.stderr


def test_an_address_that_is_taken():
    with web.Server() as server:
        done = box.glovebox("serve", "--no-auth", "--listen", f"127.0.0.1:{server.port}")
        assert done.returncode == 125 and "listening at" in done.stderr


def test_what_is_under_way_is_finished_at_the_end():
    with web.Server() as server:
        idle = server.connect()
        assert server.get("/healthz", on=idle).status == 200
        replies = []
        code = "import time; time.sleep(1); 'finished'"
        thread = threading.Thread(target=lambda: replies.append(server.run(code)))
        thread.start()
        assert box.until(lambda: server.running() == 1)
        server.process.send_signal(signal.SIGTERM)
        server.says("ending")
        with pytest.raises(OSError):
            server.connect().connect()  # nobody new
        thread.join(20)
        assert replies[0].json()["value"] == "finished"
        assert replies[0].headers["Connection"] == "close"
        assert server.process.wait(10) == 0
        idle.close()


def test_who_does_not_finish_in_time_is_ended():
    with web.Server("--drain-timeout", "0.3") as server:
        with server.raw_execute(web.SLEEP):
            assert box.until(lambda: server.running() == 1)
            started = time.monotonic()
            assert server.ends() == 0
            assert time.monotonic() - started < 10
        assert "did not end in time" in server.said


def test_killed_it_leaves_nothing():
    with web.Server() as server:
        with server.raw_execute(web.SLEEP):
            assert box.until(lambda: server.running() == 1)
            server.ends(signal.SIGKILL)


def test_landlock():
    with web.Server("--isolation", "landlock") as server:
        result = server.run("1 + 1").json()
        assert (result["value"], result["isolation"]["level"]) == (2, "landlock")
