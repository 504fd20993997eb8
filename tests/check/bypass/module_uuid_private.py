# A private function of uuid that starts a program.
# reaches: uuid._ifconfig_getnode
import uuid
REACHED = uuid._ifconfig_getnode
