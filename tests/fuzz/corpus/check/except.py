try:
    decimal.nope
except (A, B) as e:
    e.obj, e.__traceback__
else: pass
finally: raise X from e
assert a, b
with open('f') as f: pass
import decimal
