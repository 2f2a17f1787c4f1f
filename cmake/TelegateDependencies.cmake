# Third-party libraries, one target for each. Their include folders are SYSTEM to suppress warnings in their headers.
if(TELEGATE_STATIC)  # archives, and the libraries that they need
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(PKG_CONFIG_ARGN --static)
endif()
find_package(Threads REQUIRED)
find_package(Boost 1.74 CONFIG REQUIRED)  # of its headers
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)

add_library(telegate_asio INTERFACE)
target_link_libraries(telegate_asio INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(telegate_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)

# Cryptography for CURVE.
add_library(telegate_sodium INTERFACE)
target_link_libraries(telegate_sodium INTERFACE PkgConfig::SODIUM)

if(TELEGATE_GATEWAY)
  # Compression of the durable log.
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.4)
  add_library(telegate_zstd INTERFACE)
  target_link_libraries(telegate_zstd INTERFACE PkgConfig::ZSTD)

  # Linear-time regular expressions for text lines from devices.
  pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
  add_library(telegate_re2 INTERFACE)
  target_link_libraries(telegate_re2 INTERFACE PkgConfig::RE2)

  # Compression of requests to databases.
  pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib>=1.2)
  add_library(telegate_zlib INTERFACE)
  target_link_libraries(telegate_zlib INTERFACE PkgConfig::ZLIB)
  target_compile_definitions(telegate_zlib INTERFACE ZLIB_CONST)

  # TLS.
  pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET openssl>=3.0)
  add_library(telegate_openssl INTERFACE)
  target_link_libraries(telegate_openssl INTERFACE PkgConfig::OPENSSL)
endif()

# Modbus devices. Debian has only a shared library, so static builds compile the source.
if(TELEGATE_GATEWAY AND NOT TELEGATE_STATIC)
  pkg_check_modules(MODBUS REQUIRED IMPORTED_TARGET libmodbus>=3.1.4)
  add_library(telegate_modbus INTERFACE)
  target_link_libraries(telegate_modbus INTERFACE PkgConfig::MODBUS)
endif()
if(TELEGATE_GATEWAY AND TELEGATE_STATIC)
  pkg_check_modules(MODBUS REQUIRED libmodbus>=3.1.4)  # of its headers
  set(modbus_sources modbus.c modbus-data.c modbus-rtu.c modbus-tcp.c)
  list(TRANSFORM modbus_sources PREPEND "${CMAKE_SOURCE_DIR}/build_libmodbus/")
  if(NOT EXISTS "${CMAKE_SOURCE_DIR}/build_libmodbus/modbus.c")
    message(FATAL_ERROR "No source of libmodbus in build_libmodbus. Run tools/fetch_sources.sh libmodbus.")
  endif()
  enable_language(C)
  add_library(telegate_modbus STATIC ${modbus_sources})
  set_target_properties(telegate_modbus PROPERTIES UNITY_BUILD OFF)
  target_include_directories(telegate_modbus SYSTEM PUBLIC ${MODBUS_INCLUDE_DIRS} PRIVATE "${CMAKE_BINARY_DIR}/libmodbus")
  # In place of the file that its configure script writes.
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/libmodbus/config.h" CONTENT "")
  target_compile_definitions(telegate_modbus PRIVATE
    _GNU_SOURCE HAVE_ACCEPT4 HAVE_BYTESWAP_H HAVE_DECL_TIOCM_RTS HAVE_DECL_TIOCSRS485)
endif()

# For the comparisons of perf_tool and the interop tests; the target exists only if the library is found. pkg-config is
# not used, because it changes the order of flags in the second configure run, which would recompile all dependent
# targets.
if(TELEGATE_GATEWAY AND NOT TELEGATE_STATIC)
  find_path(TELEGATE_LIBZMQ_DIR zmq.h)
  find_library(TELEGATE_LIBZMQ_LIBRARY zmq)
  if(TELEGATE_LIBZMQ_DIR AND TELEGATE_LIBZMQ_LIBRARY)
    add_library(telegate_libzmq INTERFACE)
    target_include_directories(telegate_libzmq SYSTEM INTERFACE "${TELEGATE_LIBZMQ_DIR}")
    target_link_libraries(telegate_libzmq INTERFACE "${TELEGATE_LIBZMQ_LIBRARY}")
  else()
    message(STATUS "libzmq not found: building without comparisons and interop tests that use it")
  endif()
endif()

# For gateway_verify and the comparisons of perf_tool; not available in static builds. The target exists only if the
# library is found.
if(TELEGATE_GATEWAY AND NOT TELEGATE_STATIC)
  find_path(TELEGATE_LIBNATS_DIR nats/nats.h)
  find_library(TELEGATE_LIBNATS_LIBRARY nats)
  if(TELEGATE_LIBNATS_DIR AND TELEGATE_LIBNATS_LIBRARY)
    add_library(telegate_libnats INTERFACE)
    target_include_directories(telegate_libnats SYSTEM INTERFACE "${TELEGATE_LIBNATS_DIR}")
    target_link_libraries(telegate_libnats INTERFACE "${TELEGATE_LIBNATS_LIBRARY}")
  else()
    message(STATUS "libnats not found: building without gateway_verify")
  endif()
endif()

if(TELEGATE_GATEWAY)
  find_package(nlohmann_json 3.11 REQUIRED)
  find_package(spdlog 1.10 REQUIRED)
  find_package(CLI11 2.1 REQUIRED)
  add_library(telegate_spdlog INTERFACE)
endif()
if(TELEGATE_GATEWAY AND NOT TELEGATE_STATIC)
  target_link_libraries(telegate_spdlog INTERFACE spdlog::spdlog)

  # HTTP client of tests and perf_tool, which also uses its server for comparison. The linker removes unused parts.
  if(NOT EXISTS "${TELEGATE_HTTPLIB_DIR}/httplib.cc")
    message(FATAL_ERROR
      "No httplib.cc in TELEGATE_HTTPLIB_DIR \"${TELEGATE_HTTPLIB_DIR}\". Run tools/fetch_sources.sh httplib.")
  endif()
  add_library(telegate_httplib STATIC EXCLUDE_FROM_ALL "${TELEGATE_HTTPLIB_DIR}/httplib.cc")
  target_include_directories(telegate_httplib SYSTEM PUBLIC "${TELEGATE_HTTPLIB_DIR}")
  target_compile_definitions(telegate_httplib PUBLIC CPPHTTPLIB_USE_POLL CPPHTTPLIB_OPENSSL_SUPPORT)
  target_link_libraries(telegate_httplib PUBLIC Threads::Threads telegate_openssl)
  telegate_build_small(telegate_httplib)
endif()
if(TELEGATE_GATEWAY AND TELEGATE_STATIC)
  # Debian has only shared libraries of these, but spdlog and fmt can be used as header-only libraries.
  target_include_directories(telegate_spdlog SYSTEM INTERFACE "$<TARGET_PROPERTY:spdlog::spdlog,INTERFACE_INCLUDE_DIRECTORIES>")
  target_compile_definitions(telegate_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
  target_link_libraries(telegate_spdlog INTERFACE Threads::Threads)
endif()
