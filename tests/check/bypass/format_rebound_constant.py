# A template that is a literal first and another thing later.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
TEMPLATE = "{0}"


def change(text):
    global TEMPLATE
    TEMPLATE = text


change("{0.__glo" + "bals__}")
REACHED = TEMPLATE.format(lambda: 0)
