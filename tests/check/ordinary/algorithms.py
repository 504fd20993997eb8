#--- binary_search
def search(items, target):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == target:
            return middle
        if items[middle] < target:
            low = middle + 1
        else:
            high = middle - 1
    return -1


numbers = list(range(0, 100, 3))
assert search(numbers, 33) == 11 and search(numbers, 34) == -1
print(all(search(numbers, n) == i for i, n in enumerate(numbers)))
#--- quicksort
def quicksort(items):
    if len(items) < 2:
        return items
    pivot, *rest = items
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort([x for x in rest if x >= pivot])


data = [33, 4, 15, 8, 42, 4, 16, 23]
print(quicksort(data))
assert quicksort(data) == sorted(data)
#--- merge_sort
def merge_sort(items, key=lambda x: x):
    if len(items) <= 1:
        return list(items)
    half = len(items) // 2
    left, right = merge_sort(items[:half], key), merge_sort(items[half:], key)
    out = []
    while left and right:
        out.append(left.pop(0) if key(left[0]) <= key(right[0]) else right.pop(0))
    return out + left + right


words = "banana kiwi fig apple".split()
print(merge_sort(words), merge_sort(words, key=len))
assert merge_sort(words, key=len) == sorted(words, key=len)
#--- dijkstra
graph = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}


def shortest(graph, start):
    distance, done = {start: 0}, set()
    while len(done) < len(distance):
        node = min((n for n in distance if n not in done), key=distance.get)
        done.add(node)
        for other, weight in graph[node].items():
            new = distance[node] + weight
            if new < distance.get(other, float("inf")):
                distance[other] = new
    return distance


print(shortest(graph, "a"))
assert shortest(graph, "a") == {"a": 0, "b": 4, "c": 3, "d": 6}
#--- breadth_first_maze
from collections import deque

maze = ["S.#.", "..#.", "#..E"]
start = next((r, c) for r, row in enumerate(maze) for c, x in enumerate(row) if x == "S")
queue, came = deque([start]), {start: None}
while queue:
    r, c = here = queue.popleft()
    if maze[r][c] == "E":
        break
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        step = r + dr, c + dc
        if 0 <= step[0] < len(maze) and 0 <= step[1] < len(maze[0]) and maze[step[0]][step[1]] != "#" \
                and step not in came:
            came[step] = here
            queue.append(step)
path = []
while here:
    path.append(here)
    here = came[here]
print(path[::-1])
assert len(path) == 6
#--- topological_sort
needs = {"shirt": [], "tie": ["shirt"], "jacket": ["tie", "trousers"], "trousers": [], "shoes": ["trousers"]}


def order(needs):
    done, visiting = [], set()

    def visit(node):
        if node in done:
            return
        if node in visiting:
            raise ValueError(f"a circle through {node}")
        visiting.add(node)
        for other in needs[node]:
            visit(other)
        visiting.discard(node)
        done.append(node)

    for node in needs:
        visit(node)
    return done


result = order(needs)
print(result)
assert result.index("shirt") < result.index("tie") < result.index("jacket")
try:
    order({"a": ["b"], "b": ["a"]})
except ValueError as e:
    print(e)
#--- knapsack
def knapsack(items, capacity):
    best = [0] * (capacity + 1)
    for weight, value in items:
        for room in range(capacity, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[capacity]


print(knapsack([(1, 1), (3, 4), (4, 5), (5, 7)], 7))
assert knapsack([(1, 1), (3, 4), (4, 5), (5, 7)], 7) == 9
#--- coin_change
def ways(amount, coins):
    table = [1] + [0] * amount
    for coin in coins:
        for n in range(coin, amount + 1):
            table[n] += table[n - coin]
    return table[amount]


print(ways(100, [1, 5, 10, 25, 50]))
assert ways(100, [1, 5, 10, 25, 50]) == 292
#--- n_queens
def solve(n, placed=()):
    row = len(placed)
    if row == n:
        yield placed
        return
    for column in range(n):
        if all(column != c and abs(column - c) != row - r for r, c in enumerate(placed)):
            yield from solve(n, placed + (column,))


first = next(solve(6))
for column in first:
    print("." * column + "Q" + "." * (5 - column))
assert sum(1 for _ in solve(6)) == 4
#--- game_of_life
def step(cells):
    counts = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    at = x + dx, y + dy
                    counts[at] = counts.get(at, 0) + 1
    return {at for at, n in counts.items() if n == 3 or n == 2 and at in cells}


blinker = {(0, 1), (1, 1), (2, 1)}
print(sorted(step(blinker)))
assert step(step(blinker)) == blinker
#--- sieve
def primes(limit):
    is_prime = bytearray([1]) * (limit + 1)
    is_prime[0:2] = b"\0\0"
    for n in range(2, int(limit ** 0.5) + 1):
        if is_prime[n]:
            is_prime[n * n::n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, flag in enumerate(is_prime) if flag]


print(primes(50))
assert len(primes(1000)) == 168
#--- union_find
class Groups:
    def __init__(self, items):
        self.parent = {i: i for i in items}

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def join(self, a, b):
        a, b = self.find(a), self.find(b)
        self.parent[a] = b
        return a != b


edges = [(4, "a", "b"), (1, "b", "c"), (3, "a", "c"), (2, "c", "d")]
groups = Groups("abcd")
tree = [(a, b, w) for w, a, b in sorted(edges) if groups.join(a, b)]
print(tree, sum(w for *_, w in tree))
assert sum(w for *_, w in tree) == 6
#--- own_heap
class Heap:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)
        i = len(self.items) - 1
        while i and self.items[i] < self.items[(i - 1) // 2]:
            parent = (i - 1) // 2
            self.items[i], self.items[parent] = self.items[parent], self.items[i]
            i = parent

    def pop(self):
        last = self.items.pop()
        if not self.items:
            return last
        top, self.items[0], i = self.items[0], last, 0
        while (child := 2 * i + 1) < len(self.items):
            if child + 1 < len(self.items) and self.items[child + 1] < self.items[child]:
                child += 1
            if self.items[i] <= self.items[child]:
                break
            self.items[i], self.items[child] = self.items[child], self.items[i]
            i = child
        return top


h = Heap()
for n in (5, 2, 8, 1, 9, 3):
    h.push(n)
print([h.pop() for _ in range(6)])
#--- longest_increasing
def longest(sequence):
    best = []
    for i, x in enumerate(sequence):
        before = max((b for b, y in zip(best, sequence) if y < x), key=len, default=[])
        best.append(before + [x])
    return max(best, key=len, default=[])


print(longest([10, 9, 2, 5, 3, 7, 101, 18]))
assert len(longest([10, 9, 2, 5, 3, 7, 101, 18])) == 4
#--- matrix_multiply
class Matrix:
    def __init__(self, rows):
        self.rows = [list(r) for r in rows]

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, col)) for col in columns] for row in self.rows])

    def __pow__(self, n):
        result = Matrix([[int(i == j) for j in range(len(self.rows))] for i in range(len(self.rows))])
        for _ in range(n):
            result = result @ self
        return result


fib = Matrix([[1, 1], [1, 0]]) ** 10
print(fib.rows)
assert fib.rows[0][1] == 55
m = Matrix([[1, 2]])
m @= Matrix([[1], [1]])
assert m.rows == [[3]]
#--- edit_history
class Editor:
    def __init__(self):
        self.text, self.undo_stack, self.redo_stack = "", [], []

    def type(self, text):
        self.undo_stack.append(self.text)
        self.redo_stack.clear()
        self.text += text
        return self

    def undo(self):
        if self.undo_stack:
            self.redo_stack.append(self.text)
            self.text = self.undo_stack.pop()
        return self

    def redo(self):
        if self.redo_stack:
            self.undo_stack.append(self.text)
            self.text = self.redo_stack.pop()
        return self


e = Editor().type("hello").type(" world").undo()
assert e.text == "hello"
print(e.redo().text)
#--- lru_by_ordered_dict
from collections import OrderedDict


class LRU:
    def __init__(self, size):
        self.size, self.data = size, OrderedDict()

    def get(self, key, default=None):
        if key not in self.data:
            return default
        self.data.move_to_end(key)
        return self.data[key]

    def put(self, key, value):
        self.data[key] = value
        self.data.move_to_end(key)
        if len(self.data) > self.size:
            self.data.popitem(last=False)


cache = LRU(2)
cache.put("a", 1)
cache.put("b", 2)
cache.get("a")
cache.put("c", 3)
print(list(cache.data))
assert cache.get("b") is None and cache.get("a") == 1
#--- trie
class Trie:
    def __init__(self):
        self.children, self.ends = {}, False

    def add(self, word):
        node = self
        for c in word:
            node = node.children.setdefault(c, Trie())
        node.ends = True

    def starting(self, prefix):
        node = self
        for c in prefix:
            if c not in node.children:
                return
            node = node.children[c]
        yield from node.words(prefix)

    def words(self, prefix=""):
        if self.ends:
            yield prefix
        for c, child in sorted(self.children.items()):
            yield from child.words(prefix + c)


t = Trie()
for word in ("car", "cart", "care", "dog"):
    t.add(word)
print(list(t.starting("car")))
assert list(t.starting("x")) == []
#--- balanced_brackets
def balanced(text):
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for c in text:
        if c in "([{":
            stack.append(c)
        elif c in pairs and (not stack or stack.pop() != pairs[c]):
            return False
    return not stack


print([balanced(t) for t in ("([]{})", "(]", "((", "")])
assert balanced("a(b)[c{d}]")
#--- spiral_order
def spiral(matrix):
    out = []
    while matrix:
        out += matrix.pop(0)
        matrix = [list(row) for row in zip(*matrix)][::-1]
    return out


print(spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
assert spiral([[1, 2], [3, 4]]) == [1, 2, 4, 3]
#--- luhn_check
def valid(number):
    digits = [int(c) for c in str(number) if c.isdigit()][::-1]
    total = sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits))
    return total % 10 == 0


print(valid("4539 1488 0343 6467"), valid(8273123273520569))
assert valid("79927398713")
#--- bit_tricks
def bits(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


assert [bits(n) for n in (0, 1, 255, 1024)] == [0, 1, 8, 1]
print(bin(0b1010 ^ 0b0110), ~5, 1 << 10, 0xFF >> 4, (123456).bit_length())
#--- sudoku_candidates
grid = ["53..7....", "6..195...", ".98....6.", "8...6...3", "4..8.3..1", "7...2...6", ".6....28.",
        "...419..5", "....8..79"]


def candidates(r, c):
    used = set(grid[r]) | {row[c] for row in grid}
    used |= {grid[i][j] for i in range(r // 3 * 3, r // 3 * 3 + 3) for j in range(c // 3 * 3, c // 3 * 3 + 3)}
    return sorted(set("123456789") - used)


options = {(r, c): candidates(r, c) for r in range(9) for c in range(9) if grid[r][c] == "."}
print(min(options.items(), key=lambda kv: len(kv[1])))
assert candidates(4, 4) == ["5"]
