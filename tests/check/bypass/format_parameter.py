# A format string that is only a parameter.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
def show(template, value):
    return template.format(value)


REACHED = show("{0.__class__}", 1)
