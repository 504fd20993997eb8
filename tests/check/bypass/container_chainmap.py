# A ChainMap over the namespace of builtins.
# reaches: builtins.eval
from collections import ChainMap
REACHED = ChainMap({}, __builtins__.__dict__)["eval"]
