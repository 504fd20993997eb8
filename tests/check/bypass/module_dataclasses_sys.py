# The module sys through dataclasses.
# reaches: sys
import dataclasses
REACHED = dataclasses.sys
