# A forbidden builtin as the hook of a decoder.
# reaches: the value of evaluated text
# proof: REACHED == [42.0]
import json
REACHED = json.loads("[42.0]", parse_float=eval)
