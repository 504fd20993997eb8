# A private function of typing.
# reaches: typing._eval_type
import typing
REACHED = typing._eval_type
