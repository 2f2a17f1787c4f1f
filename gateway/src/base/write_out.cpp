#include "base/write_out.hpp"

#include "base/exit_code.hpp"

#include <cerrno>
#include <ostream>
#include <system_error>

namespace telegate {

int write_out(std::ostream& out, std::ostream& errors, std::string_view text, int code) {
    if (out << text << std::flush) {
        return code;
    }
    errors << "telegate: cannot write to stdout: " << std::generic_category().message(errno) << '\n';
    return exit_code::io_error;
}

}  // namespace telegate
