# A name of one's own that is deleted, so that the builtin shines through.
# reaches: builtins.open
open = print
del open
REACHED = open
