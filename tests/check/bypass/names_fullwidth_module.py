# A module in full-width letters.
# reaches: sys
import ｓｙｓ
REACHED = sys
