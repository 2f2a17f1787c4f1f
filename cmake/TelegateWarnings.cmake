# One target carries the flags that every target of ours is built with.
add_library(telegate_warnings INTERFACE)
target_compile_options(telegate_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
if(TELEGATE_UNITY)
  # A source that a batch includes counts as a header, where a type in an unnamed namespace may be several types.
  target_compile_options(telegate_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
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

# telegate_build_small(TARGET...): code that runs once per start, request or command. It is most of the code and none of
# the work, so it is compiled for size. Optimizing it when gateway_app is linked makes that a tenth smaller.
function(telegate_build_small)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  endforeach()
  if(TELEGATE_LTO)
    set_target_properties(${ARGN} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endfunction()

# telegate_optimize(TARGET...): the sample path, and what measures it. In a release these are optimized when they are
# linked; all other programs link the machine code that the same objects contain, which takes seconds instead of a
# minute. With a sanitizer all else is not optimized, which halves the build and hardly slows the tests down.
function(telegate_optimize)
  if(TELEGATE_LTO)
    set_target_properties(${ARGN} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
  if(TELEGATE_SANITIZERS)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O1)
    endforeach()
  endif()
endfunction()
if(TELEGATE_LTO)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "TELEGATE_LTO needs g++, whose objects also contain machine code")
  endif()
  add_compile_options(-ffat-lto-objects)
  add_link_options($<IF:$<BOOL:$<TARGET_PROPERTY:INTERPROCEDURAL_OPTIMIZATION>>,-Werror=odr,-fno-lto>)
endif()

# Unused functions and data are left out of released programs.
add_compile_options("$<$<CONFIG:Release,MinSizeRel>:-ffunction-sections;-fdata-sections>")
add_link_options("$<$<CONFIG:Release,MinSizeRel>:-Wl,--gc-sections>")
# A table of relocations is 130 KB without it; since glibc 2.36.
if(NOT TELEGATE_STATIC)
  add_link_options("$<$<CONFIG:Release,MinSizeRel>:-Wl,-z,pack-relative-relocs>")
endif()
if(TELEGATE_STATIC)
  # Without position independence nothing has to be relocated, and so copied, at start.
  add_compile_options(-fno-pie)
  add_link_options(-static -no-pie)
endif()

find_program(TELEGATE_CCACHE ccache)
if(TELEGATE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TELEGATE_CCACHE}")
endif()
