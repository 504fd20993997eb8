import functools, operator
@functools.singledispatch
def f(x): pass
@f.register
def _(x: int | None) -> dict[str, int]: pass
@f.register(str)
def _(x): pass
f.register('x', 1)
@functools.wraps(f)
def g(): pass
functools.update_wrapper(f, g, assigned=())
operator.attrgetter('a.__b__')(x)
getattr(x, 'y')
type(x)
type('a', (), {})
