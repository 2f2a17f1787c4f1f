# One target carries the flags that every target of ours is built with.
add_library(telegate_warnings INTERFACE)
target_compile_options(telegate_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
if(PROJECT_IS_TOP_LEVEL)  # another project chooses its own compiler
  target_compile_options(telegate_warnings INTERFACE -Werror)
endif()
if(TELEGATE_NATIVE)
  target_compile_options(telegate_warnings INTERFACE -march=native)
endif()

# Sanitizers and coverage change the ABI of what they touch, so they apply to everything, not to one target.
if(TELEGATE_SANITIZERS)
  # Without vptr: that check needs a free descriptor to look at memory, and reports a fault when there is none.
  add_compile_options(
    -fsanitize=${TELEGATE_SANITIZERS} -fno-sanitize=vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TELEGATE_SANITIZERS})
  if(TELEGATE_SANITIZERS MATCHES "thread")
    # Asio and moodycamel use fences, which TSan does not see; what they order is ordered by atomics as well.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
if(TELEGATE_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
if(TELEGATE_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  add_link_options(-Werror=odr)  # two rooms with one name for two things show here only
  if(TELEGATE_TESTS)
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-ffat-lto-objects>)  # so that tests are linked in seconds
  endif()
endif()

if(TELEGATE_STATIC)
  # What nobody calls is left out. Without position independence nothing has to be relocated, and so copied, at start.
  add_compile_options(-fno-pie -ffunction-sections -fdata-sections)
  add_link_options(-static -no-pie -Wl,--gc-sections)
endif()

find_program(TELEGATE_CCACHE ccache)
if(TELEGATE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TELEGATE_CCACHE}")
endif()
