# The command of json, and the class that opens files for it.
# reaches: argparse
from json.tool import argparse as a
REACHED = a
