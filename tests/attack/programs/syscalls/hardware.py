"""Touch the hardware and the segment tables: I/O ports, LDT, personality, model-specific registers.

levels: namespaces landlock
control: yes
"""

import ctypes

READ_IMPLIES_EXEC, NO_RANDOMIZE, COMPAT, PAGE_ZERO = 0x400000, 0x40000, 0x200000, 0x100000
entry = (ctypes.c_uint32 * 4)(0, 0, 0xFFFFF, 0x51)
forbidden("ioperm", 0x80, 1, 1)
forbidden("ioperm", 0, 65536, 1)
forbidden("iopl", 3)
forbidden("modify_ldt", 1, entry, 16)
forbidden("modify_ldt", 0x11, entry, 16)
for persona in (READ_IMPLIES_EXEC, COMPAT, PAGE_ZERO, 0x8, NO_RANDOMIZE | READ_IMPLIES_EXEC):
    forbidden("personality", persona)
for path in ("/dev/port", "/dev/cpu/0/msr", "/dev/mem", "/dev/nvram"):
    attempt(f"opened {path}", lambda path=path: os.open(path, os.O_RDONLY) >= 0)
verdict()
