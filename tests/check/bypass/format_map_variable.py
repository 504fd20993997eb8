# The other method that formats, with a built format string.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
parts = ["{x.", "__class__", "}"]
REACHED = "".join(parts).format_map({"x": 1})
