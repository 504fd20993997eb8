# A private function that collections borrowed.
# reaches: operator.itemgetter
import collections
REACHED = collections._itemgetter
