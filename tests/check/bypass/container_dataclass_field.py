# A field of a dataclass.
# reaches: os.system
import os
from dataclasses import dataclass


@dataclass
class D:
    m: object = os


REACHED = D().m.system
