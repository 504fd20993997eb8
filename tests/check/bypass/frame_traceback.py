# The frame of an exception.
# reaches: builtins.eval
try:
    1 / 0
except ZeroDivisionError as e:
    REACHED = e.__traceback__.tb_frame.f_builtins["eval"]
