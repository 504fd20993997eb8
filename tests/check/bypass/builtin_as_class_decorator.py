# exec as the decorator of a class that is turned into text first.
# reaches: os.system
def text(cls):
    return "import os; REACHED = os.system"


@exec
@text
class C:
    pass
