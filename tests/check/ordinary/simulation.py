#--- dice
import random
from collections import Counter

random.seed(7)
rolls = Counter(random.randint(1, 6) + random.randint(1, 6) for _ in range(2000))
for total in range(2, 13):
    print(f"{total:>2} {'*' * (rolls[total] // 20)}")
assert sum(rolls.values()) == 2000 and 2 <= min(rolls) and max(rolls) <= 12
#--- monte_carlo_pi
import random

rng = random.Random(42)
inside = sum(rng.random() ** 2 + rng.random() ** 2 <= 1 for _ in range(20000))
estimate = 4 * inside / 20000
print(round(estimate, 2))
assert 3.0 < estimate < 3.3
#--- shuffle_and_deal
import random
from itertools import product

deck = [rank + suit for rank, suit in product("23456789TJQKA", "shdc")]
random.seed(1)
random.shuffle(deck)
hands = [sorted(deck[i::4][:5]) for i in range(4)]
print(hands[0])
assert len({card for hand in hands for card in hand}) == 20
#--- random_walk
import random

rng = random.Random("walk")
position, furthest = 0, 0
for _ in range(1000):
    position += rng.choice((-1, 1))
    furthest = max(furthest, abs(position))
print(position, furthest)
assert furthest >= abs(position) and position % 2 == 0
#--- queue_simulation
import random
from collections import deque

rng = random.Random(3)
queue, waits, busy_until = deque(), [], 0
for minute in range(120):
    if rng.random() < 0.4:
        queue.append(minute)
    if queue and minute >= busy_until:
        waits.append(minute - queue.popleft())
        busy_until = minute + rng.choice([1, 2, 3])
average = sum(waits) / len(waits)
print(len(waits), "served, average wait", round(average, 2))
assert len(waits) > 10 and all(w >= 0 for w in waits)
#--- weighted_choice
import random
from collections import Counter

random.seed(0)
picks = Counter(random.choices(["red", "green", "blue"], weights=[5, 3, 2], k=1000))
print(picks)
assert picks["red"] > picks["green"] > picks["blue"]
#--- markov_text
import random
from collections import defaultdict

text = "the cat sat on the mat and the cat ate the rat".split()
follow = defaultdict(list)
for a, b in zip(text, text[1:]):
    follow[a].append(b)
random.seed(5)
word, out = "the", ["the"]
while len(out) < 8 and follow[word]:
    word = random.choice(follow[word])
    out.append(word)
print(" ".join(out))
assert all(b in follow[a] for a, b in zip(out, out[1:]))
#--- bank_of_tellers
import random


class Teller:
    def __init__(self, name):
        self.name, self.served, self.free_at = name, 0, 0.0


rng = random.Random(11)
tellers, clock = [Teller(n) for n in "AB"], 0.0
for _ in range(30):
    clock += rng.expovariate(1.0)
    teller = min(tellers, key=lambda t: t.free_at)
    teller.free_at = max(clock, teller.free_at) + rng.uniform(0.5, 1.5)
    teller.served += 1
print({t.name: t.served for t in tellers})
assert sum(t.served for t in tellers) == 30
#--- genetic_search
import random

TARGET = "glove"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
rng = random.Random(9)


def score(word):
    return sum(a == b for a, b in zip(word, TARGET))


def mutate(word):
    i = rng.randrange(len(word))
    return word[:i] + rng.choice(LETTERS) + word[i + 1:]


best, generations = "aaaaa", 0
while best != TARGET:
    generations += 1
    best = max([best] + [mutate(best) for _ in range(50)], key=score)
    assert generations < 1000
print(generations)
#--- infection_model
def model(population, infected, beta, gamma, days):
    s, i, r = population - infected, infected, 0
    for _ in range(days):
        new, well = beta * s * i / population, gamma * i
        s, i, r = s - new, i + new - well, r + well
        yield s, i, r


history = list(model(1000, 1, 0.4, 0.1, 100))
peak = max(range(len(history)), key=lambda d: history[d][1])
print("peak on day", peak, "with", round(history[peak][1]))
assert abs(sum(history[-1]) - 1000) < 1e-6
#--- bouncing_ball
height, velocity, bounces, time = 10.0, 0.0, 0, 0.0
while bounces < 3:
    velocity -= 9.81 * 0.001
    height += velocity * 0.001
    time += 0.001
    if height <= 0:
        height, velocity = 0.0, -velocity * 0.8
        bounces += 1
print(f"{time:.2f} s")
assert 4 < time < 6
#--- elevator
class Elevator:
    def __init__(self):
        self.floor, self.log = 0, []

    def visit(self, floors):
        up = sorted(f for f in floors if f >= self.floor)
        down = sorted((f for f in floors if f < self.floor), reverse=True)
        for floor in up + down:
            self.log.append(abs(floor - self.floor))
            self.floor = floor
        return up + down


e = Elevator()
e.floor = 4
print(e.visit([7, 2, 9, 1, 5]), sum(e.log))
assert e.log == [1, 2, 2, 7, 1]
#--- reproducible_sample
import random

state = random.getstate()
a = random.sample(range(1000), 5)
random.setstate(state)
b = random.sample(range(1000), 5)
assert a == b and len(set(a)) == 5
print(len(a), random.gauss(0, 1) != random.gauss(0, 1))
