# Another module through base64.
# reaches: binascii
from base64 import binascii as b
REACHED = b
