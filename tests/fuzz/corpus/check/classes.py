import functools
from dataclasses import dataclass, field, fields
class M(type):
    def __new__(m, n, b, d): return super().__new__(m, n, b, d)
@dataclass(frozen=True)
class A:
    x: int = 0
    y: list = field(default_factory=list)
    __match_args__ = ('x', 'y')
    def __post_init__(self): object.__setattr__(self, 'z', 1)
    def __setattr__(self, name, value): super().__setattr__(name, value)
class B(A, metaclass=M):
    __m = 1
    def f(self): return self.__m, __m, self._x, __class__
