# Text in a type is an object that evaluates it, by a public method.
# reaches: os.system
# needs: 3.14
from typing import List, get_args
reference = get_args(List["__import__('os').system"])[0]
REACHED = reference.evaluate()
