#--- money_with_decimal
from decimal import ROUND_HALF_UP, Decimal, getcontext

prices = [Decimal("19.99"), Decimal("5.01"), Decimal("0.10")]
subtotal = sum(prices, Decimal())
tax = (subtotal * Decimal("0.075")).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
print(subtotal, tax, subtotal + tax, getcontext().prec)
assert subtotal + tax == Decimal("26.98")
#--- local_precision
from decimal import Decimal, localcontext

with localcontext() as context:
    context.prec = 40
    root = Decimal(2).sqrt()
print(root, +root)
assert str(root).startswith("1.41421356237309504880168872420969807")
#--- exact_fractions
from fractions import Fraction

third = Fraction(1, 3)
assert third * 3 == 1 and third + Fraction("1/6") == Fraction(1, 2)
harmonic = sum(Fraction(1, n) for n in range(1, 11))
print(harmonic, float(harmonic), Fraction(0.125), Fraction(3.14159).limit_denominator(100))
#--- quadratic_roots
import math


def roots(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        return complex(-b, math.sqrt(-d)) / (2 * a), complex(-b, -math.sqrt(-d)) / (2 * a)
    root = math.sqrt(d)
    return (-b + root) / (2 * a), (-b - root) / (2 * a)


print(roots(1, -3, 2), roots(1, 0, 1))
assert roots(1, -3, 2) == (2.0, 1.0) and roots(1, 0, 1)[0] == 1j
#--- newton_method
def newton(f, df, x, tolerance=1e-12):
    for _ in range(50):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tolerance:
            return x
    raise ArithmeticError("does not converge")


root = newton(lambda x: x * x - 2, lambda x: 2 * x, 1.0)
print(f"{root:.10f}")
assert abs(root ** 2 - 2) < 1e-9
#--- gcd_and_friends
import math

assert math.gcd(48, 36) == 12 and math.lcm(4, 6) == 12
assert math.comb(5, 2) == 10 and math.perm(5, 2) == 20 and math.factorial(6) == 720
print(math.isqrt(10 ** 20), math.prod([1, 2, 3, 4]), math.floor(-2.5), math.ceil(-2.5))
#--- float_traps
import math

assert 0.1 + 0.2 != 0.3 and math.isclose(0.1 + 0.2, 0.3)
assert math.fsum([0.1] * 10) == 1.0
nan, inf = float("nan"), math.inf
print(nan == nan, math.isnan(nan), inf > 10 ** 308, (0.1).as_integer_ratio()[1].bit_length())
print(round(2.5), round(3.5), round(1234.5678, -2), (-7) // 2, -7 % 3, divmod(7, -2))
#--- base_conversion
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def to_base(n, base):
    if n == 0:
        return "0"
    out = ""
    while n:
        n, rest = divmod(n, base)
        out = DIGITS[rest] + out
    return out


print(to_base(255, 2), to_base(255, 16), to_base(123456, 36))
assert int(to_base(123456, 36), 36) == 123456 and hex(255) == "0xff" and oct(8) == "0o10"
#--- prime_factors
def factors(n):
    found, d = [], 2
    while d * d <= n:
        while n % d == 0:
            found.append(d)
            n //= d
        d += 1
    return found + [n] * (n > 1)


print({n: factors(n) for n in (12, 97, 360, 1001)})
assert factors(360) == [2, 2, 2, 3, 3, 5]
#--- linear_regression
xs, ys = [1, 2, 3, 4, 5], [2.1, 3.9, 6.2, 7.8, 10.1]
n = len(xs)
mean_x, mean_y = sum(xs) / n, sum(ys) / n
slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)
intercept = mean_y - slope * mean_x
residuals = [y - (slope * x + intercept) for x, y in zip(xs, ys)]
print(f"y = {slope:.3f} x + {intercept:.3f}")
assert abs(sum(residuals)) < 1e-9
#--- statistics_by_hand
import math
from collections import Counter

data = [2, 4, 4, 4, 5, 5, 7, 9]
mean = sum(data) / len(data)
ordered = sorted(data)
median = (ordered[3] + ordered[4]) / 2
mode = Counter(data).most_common(1)[0][0]
deviation = math.sqrt(sum((x - mean) ** 2 for x in data) / len(data))
print(mean, median, mode, deviation)
assert (mean, median, mode, deviation) == (5.0, 4.5, 4, 2.0)
#--- numerical_integration
import math


def simpson(f, a, b, n=100):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += f(a + i * h) * (4 if i % 2 else 2)
    return total * h / 3


area = simpson(math.sin, 0, math.pi)
print(f"{area:.8f}")
assert abs(area - 2) < 1e-6
#--- compound_interest
from decimal import Decimal


def grow(principal, rate, years):
    balance = Decimal(principal)
    for year in range(1, years + 1):
        balance += (balance * Decimal(rate)).quantize(Decimal("0.01"))
        yield year, balance


for year, balance in grow("1000", "0.05", 3):
    print(f"{year}: {balance:>10,.2f}")
assert balance == Decimal("1157.62")
#--- big_integers
n = 2 ** 200 + 1
assert n % 17 == (pow(2, 200, 17) + 1) % 17
print(len(str(n)), n.bit_length(), pow(3, -1, 11), int("ff", 16), int("0b101", 0))
assert 1_000_000 == 10 ** 6 and (10 ** 30) // (10 ** 28) == 100
#--- complex_numbers
import math

z = 3 + 4j
assert abs(z) == 5 and z.conjugate() == 3 - 4j and (z * z.conjugate()).real == 25
rotated = z * complex(math.cos(math.pi / 2), math.sin(math.pi / 2))
print(f"{rotated.real:.1f} {rotated.imag:.1f}", complex("1+2j"), z.real, z.imag)
#--- gradient_descent
def descend(gradient, point, rate=0.1, steps=200):
    for _ in range(steps):
        point = [p - rate * g for p, g in zip(point, gradient(*point))]
    return point


x, y = descend(lambda x, y: (2 * (x - 3), 4 * (y + 1)), [0.0, 0.0])
print(round(x, 3), round(y, 3))
assert abs(x - 3) < 1e-6 and abs(y + 1) < 1e-6
