# eval as the key of max.
# reaches: os.system
found = []
max(["found.append(__import__('os').system)"], key=eval)
REACHED = found[0]
