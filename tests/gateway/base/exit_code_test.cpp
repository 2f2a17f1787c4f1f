#include "base/exit_code.hpp"

#include "support/catch.hpp"

#include <sysexits.h>

#include <cerrno>
#include <system_error>

using namespace telegate;

TEST_CASE("a start that fails because of an address has a different exit code from other system errors",
          "[gateway][exit_code]") {
    CHECK(exit_code::of_start(std::error_code(EADDRINUSE, std::generic_category())) == exit_code::unavailable);
    CHECK(exit_code::of_start(std::error_code(EADDRNOTAVAIL, std::system_category())) == exit_code::unavailable);
    CHECK(exit_code::of_start(std::error_code(ENOENT, std::system_category())) == exit_code::unavailable);
    CHECK(exit_code::of_start(std::error_code(ENODEV, std::system_category())) == exit_code::unavailable);
    CHECK(exit_code::of_start(std::error_code(ENXIO, std::system_category())) == exit_code::unavailable);
    CHECK(exit_code::of_start(std::error_code(EMFILE, std::generic_category())) == exit_code::os_error);
    CHECK(exit_code::of_start(std::error_code(ENOMEM, std::system_category())) == exit_code::os_error);
}

TEST_CASE("a start that the system does not permit has its own exit code", "[gateway][exit_code]") {
    const int error = GENERATE(EACCES, EPERM);
    CHECK(exit_code::of_start(std::error_code(error, std::system_category())) == exit_code::not_permitted);
}

TEST_CASE("unreadable settings and invalid settings have different exit codes", "[gateway][exit_code]") {
    const auto code_of = [](int error) {
        return exit_code::of_settings(SettingsError({}, {}, std::error_code(error, std::system_category())));
    };
    CHECK(code_of(0) == exit_code::config);
    CHECK(code_of(ENOENT) == exit_code::no_input);
    CHECK(code_of(EISDIR) == exit_code::no_input);
    CHECK(code_of(EACCES) == exit_code::not_permitted);
}

TEST_CASE("the exit codes match sysexits.h", "[gateway][exit_code]") {
    CHECK(exit_code::usage == EX_USAGE);
    CHECK(exit_code::no_input == EX_NOINPUT);
    CHECK(exit_code::unavailable == EX_UNAVAILABLE);
    CHECK(exit_code::internal == EX_SOFTWARE);
    CHECK(exit_code::os_error == EX_OSERR);
    CHECK(exit_code::not_permitted == EX_NOPERM);
    CHECK(exit_code::config == EX_CONFIG);
}
