# A private module through hashlib.
# reaches: _hashlib
import hashlib
REACHED = hashlib._hashlib
