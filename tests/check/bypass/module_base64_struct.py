# A module through base64.
# reaches: struct
import base64
REACHED = base64.struct
