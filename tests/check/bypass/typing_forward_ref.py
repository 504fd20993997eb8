# Text that is evaluated by a private method of a public class.
# reaches: os.system
# needs: 3.9-3.12
from typing import ForwardRef
REACHED = ForwardRef("__import__('os').system")._evaluate({}, {}, frozenset())
