# A function that opens files, through json.
# reaches: codecs.open
import json
REACHED = json.codecs.open
