# Third parties, each behind one target, all as SYSTEM so that their warnings are not ours.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_path(TELEGATE_CONCURRENTQUEUE_DIR concurrentqueue/concurrentqueue.h REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)

add_library(telegate_asio INTERFACE)
target_link_libraries(telegate_asio INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(telegate_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)

add_library(telegate_concurrentqueue INTERFACE)
target_include_directories(telegate_concurrentqueue SYSTEM INTERFACE "${TELEGATE_CONCURRENTQUEUE_DIR}")

# The cryptography of CURVE.
add_library(telegate_sodium INTERFACE)
target_link_libraries(telegate_sodium INTERFACE PkgConfig::SODIUM)

if(TELEGATE_GATEWAY)
  find_package(nlohmann_json 3.11 REQUIRED)
  find_package(spdlog 1.10 REQUIRED)
  find_package(CLI11 2.1 REQUIRED)
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)

  # pkg-config carries the macros that Debian built the library with; without them its classes differ in layout.
  add_library(telegate_httplib INTERFACE)
  target_link_libraries(telegate_httplib INTERFACE PkgConfig::HTTPLIB Threads::Threads)
endif()
