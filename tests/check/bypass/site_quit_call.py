# The object quit, through the function of its class.
# reaches: the globals of the module that made it
# proof: REACHED["sys"] is sys
REACHED = quit.__class__.__call__.__globals__
