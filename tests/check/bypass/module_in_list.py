# A list of allowed modules, and a module of one.
# reaches: sys
import collections
import json
import typing
REACHED = [m for m in (json, collections, typing)][2].sys
