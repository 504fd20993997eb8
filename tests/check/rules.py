"""The rules that the engine hands to the checker: what strict and standard come with.

The lists are written out here, apart from the engine's table, so that a slip in either shows:
test_conformance.py compares them with what the engine says.
"""

IMPORTS = """asyncio pathlib json math datetime time itertools functools collections typing dataclasses
decimal fractions re base64 hashlib uuid random os
array bisect cmath copy heapq operator statistics string struct""".split()
BLOCKED_IMPORTS = """sys subprocess socket urllib requests http ftplib smtplib telnetlib multiprocessing
threading ctypes shutil tempfile importlib builtins __builtin__""".split()
BUILTINS = """print len str int float bool list dict tuple set frozenset range enumerate zip map filter sorted
reversed sum min max abs round pow divmod all any chr ord hex oct bin format repr ascii bytes bytearray
memoryview isinstance issubclass callable type id hash next iter slice""".split()
BLOCKED_BUILTINS = """eval exec compile __import__ globals locals vars dir open input help breakpoint exit quit
copyright credits license delattr getattr setattr hasattr""".split()
OS_ATTRS = ["environ", "path"]

# What the language is written with: the packages count calls, so that a class could name its base
# and a handler its exception; here every use counts.
LANGUAGE = ["object", "super", "property", "staticmethod", "classmethod", "complex", "NotImplemented",
            "Ellipsis"]
EXCEPTIONS = """ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError
BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError
Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit
IOError ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError
KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError
NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError
PythonFinalizationError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning
StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError
TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
UnicodeWarning UserWarning ValueError Warning ZeroDivisionError""".split()

STRICT = {
    "policy": "strict", "patterns": "block", "tools": [],
    "allow_imports": IMPORTS, "block_imports": BLOCKED_IMPORTS,
    "allow_builtins": BUILTINS + LANGUAGE + EXCEPTIONS, "block_builtins": BLOCKED_BUILTINS,
    "allow_os_attrs": OS_ATTRS,
}
STANDARD = {
    "policy": "standard", "patterns": "warn", "tools": [],
    "allow_imports": None, "block_imports": [], "allow_builtins": None, "block_builtins": [],
    "allow_os_attrs": None,
}
