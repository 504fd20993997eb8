# The module os through uuid.
# reaches: os.popen
import uuid
REACHED = uuid.os.popen
