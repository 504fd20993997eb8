# A name with a long s, which folds to an s.
# reaches: sys
import ſys
REACHED = sys
