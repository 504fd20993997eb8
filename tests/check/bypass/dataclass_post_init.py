# A module kept by __post_init__.
# reaches: os.system
import os
from dataclasses import dataclass


@dataclass
class C:
    x: int = 0

    def __post_init__(self):
        self.m = os


REACHED = C().m.system
