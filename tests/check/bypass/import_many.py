# A forbidden module among allowed ones.
# reaches: sys.modules
import json, math, sys, re
REACHED = sys.modules
