# By merging dictionaries.
# reaches: os.system
import os
base = {"m": os}
merged = {**base, "n": 1} | {}
REACHED = merged["m"].system
