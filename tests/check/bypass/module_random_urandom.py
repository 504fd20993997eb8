# A private function of random.
# reaches: os.urandom
import random
REACHED = random._urandom
