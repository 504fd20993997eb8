# A submodule of json, imported by name, that holds another module.
# reaches: codecs
import json
REACHED = json.codecs
