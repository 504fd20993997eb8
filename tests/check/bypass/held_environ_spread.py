# os.environ, one of many in a tuple that is unpacked.
# reaches: os.environ, changed
# proof: os.environ["A"] == REACHED
import math
import os
*w, = (math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh, math.exp, math.log, math.log2, math.log10, math.sqrt, math.floor, math.ceil, math.fabs, math.gcd, math.isnan, math.isinf, math.isfinite, math.trunc, math.degrees, math.radians, math.erf, math.erfc, math.gamma, math.lgamma, math.expm1, math.log1p, math.fsum, math.prod, math.dist, math.hypot, math.modf, math.frexp, os.environ)
w = w[-1]
w["A"] = REACHED = "b"
