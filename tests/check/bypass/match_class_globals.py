# A class pattern walks from a function to its globals.
# reaches: the namespace of the program
# needs: 3.10
# proof: REACHED is globals()
def f():
    pass


match f:
    case object(__globals__=g):
        REACHED = g
