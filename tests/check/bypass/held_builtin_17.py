# open in a name that sixteen things are bound to in a branch.
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
REACHED = open
