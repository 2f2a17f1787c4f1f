"""A system call filter (seccomp) that kills a program with SIGSYS if it opens a file for writing."""

import ctypes
import os
import platform
import struct

OPENAT2 = 437
# System call numbers by machine: calls that open a file, with the position of their flags argument, and calls that
# change files by path.
CALLS = {
    "x86_64": ({2: 1, 257: 2}, (76, 82, 83, 85, 87, 263, 264, 316, OPENAT2)),
    "aarch64": ({56: 2}, (34, 35, 38, 45, 276, OPENAT2)),
}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06  # of the machine in <linux/bpf_common.h>
KILL, ALLOW = 0x80000000, 0x7FFF0000
NUMBER_AT, ARGUMENTS_AT = 0, 16
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2

is_known = platform.machine() in CALLS


def program():
    opens, others = CALLS[platform.machine()]
    lines = [(LOAD, 0, 0, NUMBER_AT)]
    for number in others:
        lines += [(EQUAL, 0, 1, number), (RETURN, 0, 0, KILL)]
    for number, argument in opens.items():
        lines += [(EQUAL, 0, 4, number), (LOAD, 0, 0, ARGUMENTS_AT + 8 * argument), (ANY_BIT, 0, 1, WRITES),
                  (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", *line) for line in lines + [(RETURN, 0, 0, ALLOW)])


def confine():
    """Forbids this process and its children to write to files that are not open yet. For preexec_fn."""
    code = program()
    buffer = ctypes.create_string_buffer(code)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(PR_SET_SECCOMP, FILTER, ctypes.c_void_p(ctypes.addressof(header))):
        raise OSError(ctypes.get_errno(), "seccomp")
