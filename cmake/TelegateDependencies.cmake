# Third-party libraries, one target for each. Their include folders are SYSTEM to suppress warnings in their headers.
find_package(Threads REQUIRED)
find_package(Boost 1.74 CONFIG REQUIRED)  # of its headers
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)

add_library(telegate_asio INTERFACE)
target_link_libraries(telegate_asio INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(telegate_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)

# Cryptography for CURVE.
add_library(telegate_sodium INTERFACE)
if(TELEGATE_STATIC)
  find_library(TELEGATE_SODIUM_ARCHIVE libsodium.a REQUIRED)
  target_link_libraries(telegate_sodium INTERFACE "${TELEGATE_SODIUM_ARCHIVE}")
else()
  target_link_libraries(telegate_sodium INTERFACE PkgConfig::SODIUM)
endif()

# Compression of the durable log.
if(TELEGATE_GATEWAY)
  add_library(telegate_zstd INTERFACE)
  if(TELEGATE_STATIC)
    find_library(TELEGATE_ZSTD_ARCHIVE libzstd.a REQUIRED)
    target_link_libraries(telegate_zstd INTERFACE "${TELEGATE_ZSTD_ARCHIVE}")
  else()
    pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.4)
    target_link_libraries(telegate_zstd INTERFACE PkgConfig::ZSTD)
  endif()
endif()

# Linear-time regular expressions for text lines from devices; not available in static builds.
add_library(telegate_re2 INTERFACE)
if(TELEGATE_GATEWAY AND NOT TELEGATE_STATIC)
  pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
  target_link_libraries(telegate_re2 INTERFACE PkgConfig::RE2)
endif()

# TLS for the REST server; not available in static builds.
add_library(telegate_openssl INTERFACE)
if(TELEGATE_GATEWAY AND NOT TELEGATE_STATIC)
  pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET openssl>=3.0)
  target_link_libraries(telegate_openssl INTERFACE PkgConfig::OPENSSL)
endif()

# Modbus devices; not available in static builds, because Debian has no static library. The target exists only if the
# library is found.
if(TELEGATE_GATEWAY AND TELEGATE_MODBUS AND NOT TELEGATE_STATIC)
  pkg_check_modules(MODBUS IMPORTED_TARGET libmodbus>=3.1.4)
  if(MODBUS_FOUND)
    add_library(telegate_modbus INTERFACE)
    target_link_libraries(telegate_modbus INTERFACE PkgConfig::MODBUS)
  else()
    message(STATUS "libmodbus not found: building without the Modbus driver")
  endif()
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
if(TELEGATE_GATEWAY AND TELEGATE_UPLINK_NATS AND NOT TELEGATE_STATIC)
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
      "No httplib.cc in TELEGATE_HTTPLIB_DIR \"${TELEGATE_HTTPLIB_DIR}\". Run tools/fetch_httplib.sh.")
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
