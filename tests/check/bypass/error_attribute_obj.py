# An AttributeError keeps the object that lacked the attribute: here a module.
# reaches: codecs
# needs: 3.10
import json
try:
    json.no_such_thing
except AttributeError as e:
    REACHED = e.obj.codecs
