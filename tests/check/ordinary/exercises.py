#--- heap
import heapq
from heapq import heappop, heappush
heap = []
for n in (5, 1, 4):
    heappush(heap, n)
print([heappop(heap) for _ in range(3)], heapq.nlargest(2, [3, 9, 2]), list(heapq.merge([1, 3], [2])))
#--- bisect
import bisect
scores = [10, 20, 30]
bisect.insort(scores, 25)
print(scores, bisect.bisect_left(scores, 20))
#--- copies
import copy
grid = [[0] * 3 for _ in range(3)]
other = copy.deepcopy(grid)
other[0][0] = 1
print(grid, copy.copy(other))
#--- copy_of_an_object
import copy


class Node:
    def __init__(self, value):
        self.value, self.next = value, None


head = Node(1)
head.next = Node(2)
twin = copy.deepcopy(head)
twin.next.value = 3
print(head.next.value, twin.next.value)
#--- operators
import operator
from functools import reduce
from operator import attrgetter, itemgetter
print(reduce(operator.mul, range(1, 6)), sorted([("b", 1), ("a", 2)], key=itemgetter(1)))
print(sorted([3 + 1j, 1 + 2j], key=attrgetter("real")), operator.itemgetter(0, 2)("abc"))
#--- text
import string
print(string.ascii_lowercase[:3], "a,b.".translate("".maketrans("", "", string.punctuation)))
print(string.Template("$who is here").substitute(who="Ann"), string.capwords("a b"))
#--- complex_roots
import cmath
print(cmath.sqrt(-4), round(cmath.phase(1j), 3))
#--- arrays
from array import array
a = array("i", [1, 2, 3])
a.append(4)
print(sum(a), a.tolist())
#--- figures
import statistics
from statistics import mean, median, stdev
print(mean([1, 2, 3]), median([1, 5, 2]), round(stdev([1, 2, 4]), 3), statistics.mode("aab"))
#--- packing
import struct
print(struct.unpack("<IH", struct.pack("<IH", 7, 2)), struct.calcsize("!d"))
