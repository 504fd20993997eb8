# The method of str, as an argument of map.
# reaches: the text of a forbidden attribute
# proof: REACHED == ["<class 'int'>"]
REACHED = list(map(str.format, ["{0.__class__}"], [1]))
