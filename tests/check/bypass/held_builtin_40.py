# open in a name that more things are bound to than are followed.
# reaches: builtins.open
# proof: REACHED is builtins.open
import math
if math.pi < 3:
    open = math.sin
    open = math.cos
    open = math.tan
    open = math.asin
    open = math.acos
    open = math.atan
    open = math.sinh
    open = math.cosh
    open = math.tanh
    open = math.exp
    open = math.log
    open = math.log2
    open = math.log10
    open = math.sqrt
    open = math.floor
    open = math.ceil
    open = math.fabs
    open = math.gcd
    open = math.isnan
    open = math.isinf
    open = math.isfinite
    open = math.trunc
    open = math.degrees
    open = math.radians
    open = math.erf
    open = math.erfc
    open = math.gamma
    open = math.lgamma
    open = math.expm1
    open = math.log1p
    open = math.fsum
    open = math.prod
    open = math.dist
    open = math.hypot
    open = math.modf
    open = math.frexp
REACHED = open
