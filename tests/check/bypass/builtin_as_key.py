# exec as the key of sorted, which calls it with every element.
# reaches: os.system
sorted(["import os; REACHED = os.system"], key=lambda s: exec(s, globals()) or 0)
