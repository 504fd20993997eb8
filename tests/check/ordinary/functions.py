#--- closure_counter
def make_counter(start=0):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    def reset():
        nonlocal count
        count = start

    return step, reset


step, reset = make_counter(10)
assert [step(), step(5)] == [11, 16]
reset()
print(step())
#--- global_statement
total = 0


def add(n):
    global total
    total += n


for n in range(5):
    add(n)
print(total)
assert total == 10
#--- decorator_timer
import time
from functools import wraps


def timed(func):
    @wraps(func)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        try:
            return func(*args, **kwargs)
        finally:
            wrapper.elapsed = time.perf_counter() - start
    return wrapper


@timed
def work(n):
    """Sum of squares."""
    return sum(i * i for i in range(n))


print(work.__name__, work.__doc__, work(100))
assert work.elapsed >= 0
#--- decorator_with_arguments
from functools import wraps


def repeat(times, *, sep=" "):
    def decorate(func):
        @wraps(func)
        def wrapper(*args):
            return sep.join(func(*args) for _ in range(times))
        return wrapper
    return decorate


@repeat(3, sep="-")
def greet(name):
    return f"hi {name}"


print(greet("Bo"))
assert greet("x") == "hi x-hi x-hi x"
#--- stacked_decorators
def bold(f):
    return lambda *a: "<b>" + f(*a) + "</b>"


def italic(f):
    return lambda *a: "<i>" + f(*a) + "</i>"


@bold
@italic
def text(s):
    return s


assert text("x") == "<b><i>x</i></b>"
print(text("hello"))
#--- memoised_fibonacci
from functools import lru_cache


@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print([fib(n) for n in range(15)])
assert fib(90) == 2880067194370816120
print(fib.cache_info().misses)
#--- own_memo
def memo(func):
    cache = {}

    def wrapper(*args):
        if args not in cache:
            cache[args] = func(*args)
        return cache[args]

    wrapper.cache = cache
    return wrapper


@memo
def paths(rows, columns):
    if rows == 0 or columns == 0:
        return 1
    return paths(rows - 1, columns) + paths(rows, columns - 1)


print(paths(16, 16), len(paths.cache))
assert paths(2, 2) == 6
#--- compose_pipeline
from functools import reduce


def compose(*functions):
    return reduce(lambda f, g: lambda x: g(f(x)), functions)


clean = compose(str.strip, str.lower, lambda s: s.replace(" ", "_"))
print(clean("  Hello World "))
assert clean("  A b C ") == "a_b_c"
#--- partial_application
from functools import partial


def power(base, exponent):
    return base ** exponent


square = partial(power, exponent=2)
cube = partial(power, exponent=3)
two_to = partial(power, 2)
print([square(n) for n in range(5)], cube(3), two_to(10))
assert two_to(exponent=8) == 256
#--- argument_kinds
def describe(a, b=2, /, c=3, *rest, d, e=5, **others):
    return a, b, c, rest, d, e, others


assert describe(1, d=4) == (1, 2, 3, (), 4, 5, {})
assert describe(1, 2, 3, 4, 5, d=6, x=7) == (1, 2, 3, (4, 5), 6, 5, {"x": 7})
options = {"d": 0, "e": 1}
print(describe(*[9, 8, 7], **options))
#--- late_binding_fixed
functions = []
for i in range(3):
    functions.append(lambda x, i=i: x + i)
print([f(10) for f in functions])
late = [lambda: i for i in range(3)]
print([f() for f in late])
assert [f() for f in late] == [2, 2, 2]
#--- recursion_hanoi
def hanoi(n, source="A", target="C", spare="B"):
    if n == 0:
        return []
    return hanoi(n - 1, source, spare, target) + [(source, target)] + hanoi(n - 1, spare, target, source)


moves = hanoi(4)
print(len(moves), moves[:3])
assert len(moves) == 15
#--- recursion_permutations
def permutations(items):
    if len(items) <= 1:
        return [items]
    return [[x] + rest for i, x in enumerate(items) for rest in permutations(items[:i] + items[i + 1:])]


result = permutations([1, 2, 3])
print(result)
assert len(permutations(list("abcd"))) == 24
#--- mutual_recursion
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


print([n for n in range(10) if is_even(n)])
assert is_odd(101)
#--- higher_order_table
import math

operations = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.inf,
}


def calculate(expression):
    left, operator, right = expression.split()
    return operations[operator](float(left), float(right))


for e in ("3 + 4", "10 / 4", "1 / 0"):
    print(e, "=", calculate(e))
assert calculate("6 * 7") == 42
#--- function_attributes
def visit(page):
    visit.count += 1
    visit.pages.append(page)
    return visit.count


visit.count, visit.pages = 0, []
for page in ("home", "about", "home"):
    visit(page)
print(visit.count, visit.pages)
assert visit.count == 3
#--- own_function_named_open
def open(door):
    return f"the {door} is open"


def input(prompt):
    return prompt + " yes"


print(open("door"), input("Sure?"))
assert open("x") == "the x is open"
#--- parameter_named_like_builtin
def search(input, filter=None, type="any", id=0):
    found = [x for x in input if filter is None or filter(x)]
    return {"type": type, "id": id, "found": found}


print(search([1, 2, 3], filter=lambda x: x > 1, type="int"))
assert search("ab")["found"] == ["a", "b"]
#--- currying
def curry(function, arity):
    def collect(*args):
        if len(args) >= arity:
            return function(*args)
        return lambda *more: collect(*args, *more)
    return collect


volume = curry(lambda a, b, c: a * b * c, 3)
print(volume(2)(3)(4), volume(2, 3)(4))
assert volume(1)(1, 5) == 5
#--- trampoline
def trampoline(f, *args):
    result = f(*args)
    while callable(result):
        result = result()
    return result


def countdown(n, acc=0):
    return acc if n == 0 else lambda: countdown(n - 1, acc + n)


print(trampoline(countdown, 5000))
assert trampoline(countdown, 100) == 5050
#--- single_dispatch
from functools import singledispatch


@singledispatch
def show(value):
    return f"something: {value}"


@show.register(int)
def show_int(value):
    return f"number {value:,}"


@show.register(list)
def show_list(value):
    return "list of " + ", ".join(show(v) for v in value)


print(show([1000000, "x"]))
assert show(5) == "number 5"
#--- nested_scopes
x = "module"


def outer():
    x = "outer"

    def inner():
        return x

    class C:
        x = "class"

        def get(self):
            return x

    return inner(), C().get(), C.x


print(outer())
assert outer() == ("outer", "outer", "class")
