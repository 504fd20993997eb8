"""Use the kernel's keyrings, which no namespace separates: add, find, read, link the user's keys.

levels: namespaces landlock
control: yes
"""

import ctypes

GET_ID, UPDATE, SEARCH, READ, LINK, DESCRIBE, GET_PERSISTENT = 0, 2, 10, 11, 8, 6, 22
THREAD, PROCESS, SESSION, USER, USER_SESSION = -1, -2, -3, -4, -5
name = canary["name"].encode()


def reads(key):
    text = ctypes.create_string_buffer(256)
    syscall("keyctl", READ, key, text, 256, 0)
    return leaked(text.raw)


def links_and_reads(key):
    syscall("keyctl", LINK, USER, PROCESS, 0, 0)
    return reads(key)


key = canary["keyring"]
attempt("read the host's key", in_child, reads, key)
attempt("read the host's key by a link", in_child, links_and_reads, key)
attempt("requested the host's key", lambda: reads(syscall("request_key", b"user", name, 0, 0)))
for ring in (THREAD, PROCESS, SESSION, USER, USER_SESSION):
    attempt(f"found the host's key in {ring}", lambda ring=ring: syscall("keyctl", SEARCH, ring, b"user", name, 0) > 0)
    forbidden("add_key", b"user", b"gb-planted", b"x", 1, ring)
    forbidden("keyctl", GET_ID, ring, 0, 0, 0)
forbidden("request_key", b"user", b"gb-planted", 0, 0)
forbidden("keyctl", GET_PERSISTENT, -1, PROCESS, 0, 0)
verdict()
