# The compiler flags of every target of this project.
add_library(telegate_warnings INTERFACE)
target_compile_options(telegate_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
if(TELEGATE_UNITY)
  # A source included in a batch counts as a header, so g++ warns about types in unnamed namespaces.
  target_compile_options(telegate_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(TELEGATE_WERROR)  # only in the presets: packages and other projects may use any compiler
  target_compile_options(telegate_warnings INTERFACE -Werror)
endif()
if(TELEGATE_NATIVE)
  target_compile_options(telegate_warnings INTERFACE -march=native)
endif()

# Values are the same on all processors: some of them could multiply and add in one step, without rounding in between.
target_compile_options(telegate_warnings INTERFACE -ffp-contract=off)

# Files beyond 2 GiB and times beyond 2038 on 32-bit processors.
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  add_compile_definitions(_FILE_OFFSET_BITS=64 _TIME_BITS=64)
  # Without notes about compilers before GCC 7, which passed some arguments in another way on ARM.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
endif()

# Sanitizers and coverage change the ABI, so they apply to all targets.
if(TELEGATE_SANITIZERS)
  # Without vptr, which needs a free descriptor to inspect memory and reports an error if there is none.
  add_compile_options(
    -fsanitize=${TELEGATE_SANITIZERS} -fno-sanitize=vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TELEGATE_SANITIZERS})
  if(TELEGATE_SANITIZERS MATCHES "thread")
    # Asio and moodycamel use fences, which TSan does not support; atomics establish the same order.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
if(TELEGATE_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# telegate_build_small(TARGET...) optimizes code for size that runs once per start, request or command. This is most of
# the code and little of the run time. Link-time optimization makes gateway_app another tenth smaller.
function(telegate_build_small)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  endforeach()
  if(TELEGATE_LTO)
    set_target_properties(${ARGN} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endfunction()

# telegate_optimize(TARGET...) optimizes the sample path and the programs that measure it. In a release, these targets
# use link-time optimization; other programs link the machine code in the same objects, which takes seconds instead of a
# minute. With a sanitizer, only these targets are optimized, which halves the build time and hardly slows the tests.
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
    message(FATAL_ERROR "TELEGATE_LTO requires g++, whose objects can also contain machine code")
  endif()
  add_compile_options(-ffat-lto-objects)
  add_link_options($<IF:$<BOOL:$<TARGET_PROPERTY:INTERPROCEDURAL_OPTIMIZATION>>,-Werror=odr,-fno-lto>)
endif()

# Paths in assertions are relative to the project, so that a released program does not depend on where it was built.
add_compile_options("$<$<CONFIG:Release,MinSizeRel>:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>")
# Remove unused functions and data from released programs.
add_compile_options("$<$<CONFIG:Release,MinSizeRel>:-ffunction-sections;-fdata-sections>")
add_link_options("$<$<CONFIG:Release,MinSizeRel>:-Wl,--gc-sections>")
# Saves a relocation table of 130 KB; requires glibc 2.36. Linkers of other architectures may not have it.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
check_cxx_source_compiles("int main() {}" TELEGATE_HAS_PACKED_RELOCATIONS FAIL_REGEX "pack-relative-relocs")
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(TELEGATE_HAS_PACKED_RELOCATIONS AND NOT TELEGATE_STATIC)
  add_link_options("$<$<CONFIG:Release,MinSizeRel>:-Wl,-z,pack-relative-relocs>")
endif()
if(TELEGATE_STATIC)
  # Without position independence, no pages are relocated, and thus copied, at start.
  add_compile_options(-fno-pie)
  add_link_options(-static -no-pie)
endif()

find_program(TELEGATE_CCACHE ccache)
if(TELEGATE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TELEGATE_CCACHE}")
endif()
