# A module in the metadata of a field.
# reaches: os.system
import os
from dataclasses import dataclass, field, fields


@dataclass
class C:
    x: int = field(default=0, metadata={"m": os})


REACHED = fields(C)[0].metadata["m"].system
