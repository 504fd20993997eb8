# Frames inside a library, by an exception that it raised.
# reaches: a frame of a library
# proof: "json" in REACHED.f_code.co_filename
import json
try:
    json.loads("{")
except ValueError as e:
    tb = e.__traceback__
    while tb.tb_next:
        tb = tb.tb_next
    REACHED = tb.tb_frame
