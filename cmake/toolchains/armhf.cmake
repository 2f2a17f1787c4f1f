set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(triplet arm-linux-gnueabihf)
set(emulator arm)
# Files beyond 2 GiB, and times beyond 2038.
add_compile_definitions(_FILE_OFFSET_BITS=64 _TIME_BITS=64)
include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
