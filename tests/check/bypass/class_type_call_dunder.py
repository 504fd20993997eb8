# A class made by type that answers isinstance for everything, and whose pattern reads any attribute.
# reaches: builtins
# needs: 3.10
Meta = type("Meta", (type,), {"__instance" + "check__": lambda cls, thing: True})
Reader = Meta("Reader", (), {"__match_" + "args__": ("__se" + "lf__",)})
match print:
    case Reader(module):
        REACHED = module
