# os.environ in a name that holds sixteen things before.
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
w = os.environ
w["A"] = REACHED = "b"
