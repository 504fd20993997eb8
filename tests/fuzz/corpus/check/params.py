type X[T] = list[T]
def f[T: (int, str), *U, **V](a: T) -> T: return a
class C[T = int]: pass
