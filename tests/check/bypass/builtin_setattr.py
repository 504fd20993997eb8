# A builtin that writes attributes by name.
# reaches: a changed module
# proof: REACHED is eval
import json
setattr(json, "tool", __builtins__.eval)
REACHED = json.tool
