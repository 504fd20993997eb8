# An attribute without underscores: the frame of a generator.
# reaches: the text of a frame
# proof: REACHED.startswith("<frame") or "frame object" in REACHED
REACHED = "{0.gi_frame}".format(x for x in ())
