# Cross compilation with Debian's compiler and libraries of another architecture. Tests run in QEMU. The including file
# sets CMAKE_SYSTEM_PROCESSOR, `triplet`, the GNU name of that architecture, and `emulator`, its name in QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER "${triplet}-gcc")
set(CMAKE_CXX_COMPILER "${triplet}-g++")
set(CMAKE_LIBRARY_ARCHITECTURE "${triplet}")
set(CMAKE_FIND_ROOT_PATH "/usr/${triplet}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
# Without a pkg-config of the other architecture, which would have to replace that of this machine.
set(PKG_CONFIG_EXECUTABLE /usr/bin/pkg-config)
set(ENV{PKG_CONFIG_LIBDIR} "/usr/lib/${triplet}/pkgconfig:/usr/share/pkgconfig")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-${emulator}-static")
