# A module kept in a class, and its module.
# reaches: os.system
import uuid


class Tools:
    ids = uuid


REACHED = Tools.ids.os.system
