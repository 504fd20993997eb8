# Functions made of code, through a module of dataclasses.
# reaches: types.FunctionType
import dataclasses
REACHED = dataclasses.types.FunctionType
