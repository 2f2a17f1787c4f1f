#include "exit_code.hpp"

#include "support/catch.hpp"

#include <cerrno>
#include <system_error>

using namespace telegate;

TEST_CASE("a start that an address prevents is told from one that the system prevents", "[gateway][exit_code]") {
    CHECK(exit_code::of_start(std::error_code(EADDRINUSE, std::generic_category())) == exit_code::unavailable);
    CHECK(exit_code::of_start(std::error_code(EACCES, std::system_category())) == exit_code::unavailable);
    CHECK(exit_code::of_start(std::error_code(EMFILE, std::generic_category())) == exit_code::os_error);
    CHECK(exit_code::of_start(std::error_code(ENOMEM, std::system_category())) == exit_code::os_error);
}
