# The defaults of a library function.
# reaches: a library's own objects
# proof: isinstance(REACHED, (tuple, dict))
import json
REACHED = json.dumps.__kwdefaults__
