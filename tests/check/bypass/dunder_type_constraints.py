# The constraints of a type parameter of a class.
# reaches: os.system
# needs: 3.12
import os


class C[T: (int, os.system)]:
    pass


REACHED = C.__type_params__[0].__constraints__[1]
