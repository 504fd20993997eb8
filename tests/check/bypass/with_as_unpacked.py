# A context manager whose value is unpacked.
# reaches: os.system
import os


class Give:
    def __enter__(self):
        return (1, os)

    def __exit__(self, *args):
        return None


with Give() as (_, m):
    REACHED = m.system
