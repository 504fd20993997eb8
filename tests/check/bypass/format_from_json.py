# A format string out of data.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
import json
REACHED = json.loads('"{0.\\u005f_class__}"').format(1)
