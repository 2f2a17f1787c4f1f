"""A program with two Modbus units made with pymodbus: `tcp HOST PORT GENERATION` or `rtu TTY GENERATION`.

Prints `ready PORT` (0 on a serial line). It ends when its standard input is closed, so it never outlives the process
that started it. Unit 7 has GENERATION in input register 40, which identifies the run.
"""

import asyncio
import logging
import os
import struct
import sys

try:
    from pymodbus.datastore import ModbusServerContext, ModbusSlaveContext, ModbusSparseDataBlock
    from pymodbus.server.async_io import ModbusSerialServer, ModbusTcpServer
except ImportError as error:
    print(f"skipped: {error} (Debian packages python3-pymodbus, python3-serial, python3-serial-asyncio)")
    sys.exit(77)


def registers(form, value):
    """Returns the registers of a value, high word and high byte first."""
    data = struct.pack(">" + form, value)
    return list(struct.unpack(f">{len(data) // 2}H", data))


def swapped(words):
    return [(word & 0xFF) << 8 | word >> 8 for word in words]


def units(generation):
    holding = {
        0: 1234,
        1: registers("h", -100),
        2: registers("f", 12.5),                # ABCD
        4: registers("f", -0.75)[::-1],         # CDAB
        6: registers("i", -70000),
        8: swapped(registers("I", 305419896)),  # BADC
        10: registers("I", 305419896)[::-1],
        12: registers("d", 1e100),
        16: registers("Q", 2 ** 64 - 1),
        20: registers("q", -2 ** 53 - 1)[::-1],
        24: 0b0000_0100_0000_0001,
        25: swapped(registers("f", 3.5)[::-1]),  # DCBA
        27: registers("f", float("nan")),
        30: 30, 31: 31, 33: 33, 34: 34,         # and nothing at 32
    }
    first = ModbusSlaveContext(hr=ModbusSparseDataBlock(holding), zero_mode=True)
    seventh = ModbusSlaveContext(
        ir=ModbusSparseDataBlock({40: generation, 41: 215}), co=ModbusSparseDataBlock({3: True, 4: False}),
        di=ModbusSparseDataBlock({9: False, 10: True}), zero_mode=True)
    return ModbusServerContext(slaves={1: first, 7: seventh}, single=False)


async def main(arguments):
    logging.disable()  # it logs each exception reply as an error
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, lambda: os.read(0, 1) or os._exit(0))
    context, port = units(int(arguments[-1])), 0
    if arguments[0] == "tcp":
        server = ModbusTcpServer(context, address=(arguments[1], int(arguments[2])), allow_reuse_address=True)
        serving = asyncio.ensure_future(server.serve_forever())
        await server.serving
        port = server.server.sockets[0].getsockname()[1]
    else:
        server = ModbusSerialServer(context, port=arguments[1], baudrate=115200)
        await server.start()
        serving = asyncio.ensure_future(server.serve_forever())
    print("ready", port, flush=True)
    await serving


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
