# The Enum that uuid happens to have makes classes of data.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
import uuid
REACHED = uuid.Enum("A", {"__redu" + "ce_ex__": 1, "RED": 2})
