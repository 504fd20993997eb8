# A submodule that is a forbidden module in disguise.
# reaches: posixpath.os
import posixpath
REACHED = posixpath.os
