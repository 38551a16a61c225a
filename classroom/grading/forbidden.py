"""System calls that a submission has no use for, refused by the kernel.

They make memory that belongs to no process, so no limit sees it, or things that stay when all
processes are gone: shared memory and message queues by name, keys. The rest are large parts of the
kernel that homework never needs. Of mapping memory, one kind is refused: shared and without a file,
which stays in memory when no process has its pages any more.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct

# by kind of processor: how the kernel calls it, and the numbers of its system calls
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}
MAP, MAP_FLAGS, SHARED_WITHOUT_FILE = (9, 222), 40, 0x21  # its numbers; where its flags lie
OTHER_TABLE = 0x40000000  # from here on, a second table of calls on x86_64
LOAD, EQUAL, AT_LEAST, RETURN, AND = 0x20, 0x15, 0x35, 0x06, 0x54  # instructions of the filter
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
SET_SECCOMP, FILTER = 22, 2  # for prctl


LIBC = ctypes.CDLL(None)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def is_known() -> bool:
    """Is there a filter for this machine? It is made once, for all children."""
    return _filter(os.uname().machine) is not None


def forbid() -> bool:
    """From now on this process and its children cannot make these calls; False if unknown here."""
    program = _filter(os.uname().machine)
    return program is not None and (
        LIBC.prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0) == 0
    )


@functools.cache
def _filter(machine: str) -> _Program | None:
    """The filter: another architecture, another table or a listed number is refused."""
    if machine not in ARCHITECTURES:
        return None
    column = list(ARCHITECTURES).index(machine)
    numbers = [by_machine[column] for by_machine in NUMBERS.values()]
    end = len(numbers) + 9  # the place of the refusal; a jump skips what lies between
    program = [(LOAD, 0, 0, 4), (EQUAL, 0, end - 2, ARCHITECTURES[machine])]
    program += [(LOAD, 0, 0, 0), (AT_LEAST, end - 4, 0, OTHER_TABLE)]
    program += [(EQUAL, end - 5 - i, 0, number) for i, number in enumerate(numbers)]
    program += [(EQUAL, 0, 3, MAP[column]), (LOAD, 0, 0, MAP_FLAGS)]
    program += [(AND, 0, 0, SHARED_WITHOUT_FILE), (EQUAL, 1, 0, SHARED_WITHOUT_FILE)]
    program += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    return _Program(len(program), packed)
