# A finally block that runs before the name is bound.
# reaches: builtins.open
try:
    try:
        1 / 0
        open = print
    finally:
        REACHED = open
except ZeroDivisionError:
    pass
