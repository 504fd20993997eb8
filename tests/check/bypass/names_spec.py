# The spec of an allowed module leads to its loader, which reads files.
# reaches: the loader of json
# proof: REACHED.get_data is not None
import json
REACHED = json.__spec__.loader
