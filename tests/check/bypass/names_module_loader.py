# The loader of an allowed module reads any file.
# reaches: the text of a file
# proof: b"def loads" in REACHED
import json
REACHED = json.__loader__.get_data(json.__file__)
