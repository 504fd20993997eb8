# A function of os with a ligature that folds to two letters.
# reaches: os.sendfile
import os
REACHED = os.sendﬁle
