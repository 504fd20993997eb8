# A forbidden builtin as the message of an assert.
# reaches: builtins.eval
try:
    assert False, eval
except AssertionError as e:
    REACHED = e.args[0]
