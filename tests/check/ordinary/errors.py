#--- custom_hierarchy
class AppError(Exception):
    code = 1


class NotFound(AppError):
    code = 404

    def __init__(self, what):
        super().__init__(f"{what} was not found")
        self.what = what


def find(name, where):
    try:
        return where[name]
    except KeyError as error:
        raise NotFound(name) from error


try:
    find("x", {})
except AppError as e:
    print(e.code, e, repr(e.__cause__))
    assert isinstance(e.__cause__, KeyError) and e.what == "x"
#--- else_and_finally
def divide(a, b):
    log = []
    try:
        result = a / b
    except ZeroDivisionError:
        log.append("zero")
        result = None
    else:
        log.append("fine")
    finally:
        log.append("end")
    return result, log


print(divide(1, 2), divide(1, 0))
assert divide(4, 2) == (2.0, ["fine", "end"])
#--- several_exceptions
def convert(text):
    try:
        return 100 / int(text)
    except (ValueError, TypeError) as e:
        return type(e).__name__
    except ZeroDivisionError:
        return float("inf")


print([convert(x) for x in ("4", "x", None, "0")])
assert convert(None) == "TypeError"
#--- reraise
attempts = []


def guarded():
    try:
        raise RuntimeError("inner")
    except RuntimeError:
        attempts.append("seen")
        raise


try:
    guarded()
except RuntimeError as e:
    attempts.append(str(e))
print(attempts)
assert attempts == ["seen", "inner"]
#--- assertions
def mean(values):
    assert values, "no values"
    return sum(values) / len(values)


print(mean([1, 2, 3]))
try:
    mean([])
except AssertionError as e:
    print("refused:", e)
#--- suppressing_context
class suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.caught = value
        return kind is not None and issubclass(kind, self.kinds)


with suppress(ZeroDivisionError, KeyError) as s:
    {}["missing"]
print(repr(s.caught))
try:
    with suppress(KeyError):
        1 / 0
except ZeroDivisionError:
    print("not that one")
#--- exception_groups
# needs: 3.11
def validate(record):
    errors = []
    if not record.get("name"):
        errors.append(ValueError("name is empty"))
    if not isinstance(record.get("age"), int):
        errors.append(TypeError("age is no number"))
    if errors:
        raise ExceptionGroup("bad record", errors)


seen = []
try:
    validate({"age": "x"})
except* ValueError as group:
    seen += [str(e) for e in group.exceptions]
except* TypeError as group:
    seen += [str(e) for e in group.exceptions]
print(seen)
assert seen == ["name is empty", "age is no number"]
#--- notes
# needs: 3.11
try:
    try:
        int("12x")
    except ValueError as e:
        e.add_note("while reading line 3")
        raise
except ValueError as e:
    print(e, e.__notes__)
    assert e.__notes__ == ["while reading line 3"]
#--- stop_iteration_default
it = iter([1])
print(next(it), next(it, "done"))
try:
    next(it)
except StopIteration:
    print("really done")
#--- error_collection
records = ["10", "x", "30", "", "-5"]
values, errors = [], {}
for number, text in enumerate(records):
    try:
        value = int(text)
        if value < 0:
            raise ValueError("negative")
    except ValueError as e:
        errors[number] = str(e)
    else:
        values.append(value)
print(values, errors)
assert values == [10, 30] and set(errors) == {1, 3, 4}
#--- key_error_message
class Settings(dict):
    def __missing__(self, key):
        raise KeyError(f"no setting {key!r}; known: {', '.join(sorted(self))}")


s = Settings(a=1, b=2)
try:
    s["c"]
except KeyError as e:
    print(e.args[0])
    assert "a, b" in e.args[0]
#--- nested_try
log = []
for value in (1, 0, "a"):
    try:
        try:
            log.append(10 / value)
        except ZeroDivisionError:
            log.append("zero")
            continue
        finally:
            log.append("f")
    except TypeError:
        log.append("type")
print(log)
assert log == [10.0, "f", "zero", "f", "f", "type"]
#--- os_errors
from pathlib import Path

try:
    Path("no/such/file").read_text()
except FileNotFoundError as e:
    print(e.errno, e.strerror)
except OSError as e:
    print("other", e)
#--- retry_decorator
from functools import wraps


def retry(times, on=(Exception,)):
    def decorate(f):
        @wraps(f)
        def wrapper(*args, **kwargs):
            last = None
            for _ in range(times):
                try:
                    return f(*args, **kwargs)
                except on as error:
                    last = error
            raise RuntimeError(f"{f.__name__} failed {times} times") from last
        return wrapper
    return decorate


state = {"n": 0}


@retry(3, on=(ValueError,))
def third_time():
    state["n"] += 1
    if state["n"] < 3:
        raise ValueError("not yet")
    return "lucky"


print(third_time(), state)
#--- unwinding_order
order = []


class Step:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        order.append(f"+{self.name}")
        return self

    def __exit__(self, *exc):
        order.append(f"-{self.name}")


try:
    with Step("a") as a, Step("b") as b:
        assert (a.name, b.name) == ("a", "b")
        raise ValueError
except ValueError:
    pass
print(order)
assert order == ["+a", "+b", "-b", "-a"]
#--- chained_context
def load():
    raise OSError("disk")


try:
    try:
        load()
    except OSError:
        raise ValueError("could not load")
except ValueError as e:
    print(e, "because of", e.__context__)
    assert isinstance(e.__context__, OSError) and e.__cause__ is None
#--- system_exit_caught
def main(arguments):
    if not arguments:
        raise SystemExit("usage: main NAME")
    return f"hello {arguments[0]}"


try:
    main([])
except SystemExit as e:
    print(e.code)
print(main(["you"]))
#--- the_same_error_with_more_words
def parse(text):
    try:
        return int(text)
    except (TypeError, ValueError) as e:
        raise type(e)(f"{text!r} is no number: {e}") from e


for text in ("12", "x", None):
    try:
        print(parse(text))
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
