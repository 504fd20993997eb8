# A template that is one text too many for its name.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
t = "0"
t = "1"
t = "2"
t = "3"
t = "4"
t = "5"
t = "6"
t = "7"
t = "8"
t = "9"
t = "10"
t = "11"
t = "12"
t = "13"
t = "14"
for t in ["a", "b", "c", "d", "e", "f", "g", "h", "{0.__self__}"]:
    pass
REACHED = t.format(print)
