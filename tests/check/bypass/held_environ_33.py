# os.environ in a name that holds more things than are followed.
# reaches: os.environ, changed
# proof: os.environ["A"] == REACHED
import math
import os
w = math.sin
w = math.cos
w = math.tan
w = math.asin
w = math.acos
w = math.atan
w = math.sinh
w = math.cosh
w = math.tanh
w = math.exp
w = math.log
w = math.log2
w = math.log10
w = math.sqrt
w = math.floor
w = math.ceil
w = math.fabs
w = math.gcd
w = math.isnan
w = math.isinf
w = math.isfinite
w = math.trunc
w = math.degrees
w = math.radians
w = math.erf
w = math.erfc
w = math.gamma
w = math.lgamma
w = math.expm1
w = math.log1p
w = math.fsum
w = math.prod
w = math.dist
w = math.hypot
w = math.modf
w = math.frexp
w = os.environ
w["A"] = REACHED = "b"
