# A function of os in full-width letters.
# reaches: os.system
import os
REACHED = os.ｓｙｓｔｅｍ
