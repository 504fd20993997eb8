# The command of json, and its modules.
# reaches: sys
import json.tool
REACHED = json.tool.sys
