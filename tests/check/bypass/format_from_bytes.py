# A format string out of encoded bytes.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
import base64
REACHED = base64.b64decode("ezAuX19jbGFzc19ffQ==").decode().format(1)
