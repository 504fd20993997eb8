# Importing os.path binds os.
# reaches: os.system
import os.path
REACHED = os.system
