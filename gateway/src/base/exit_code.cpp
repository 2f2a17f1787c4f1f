#include "base/exit_code.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <ostream>
#include <string_view>

namespace telegate::exit_code {

namespace {

bool is_refused(const std::error_code& error) noexcept {
    return error == std::errc::permission_denied || error == std::errc::operation_not_permitted;
}

}  // namespace

void exit_without_memory() noexcept {
    std::set_new_handler([] {
        constexpr std::string_view line = "telegate: out of memory; the process ends\n";
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
        std::_Exit(os_error);
    });
}

int of_start(const std::error_code& error) noexcept {
    constexpr std::array about_addresses{std::errc::address_in_use,
                                         std::errc::address_not_available,
                                         std::errc::no_such_file_or_directory,
                                         std::errc::not_a_directory,
                                         std::errc::read_only_file_system,
                                         std::errc::filename_too_long,
                                         std::errc::no_such_device,             // no interface with this name
                                         std::errc::no_such_device_or_address,  // a FIFO without a reader
                                         std::errc::address_family_not_supported};
    if (is_refused(error)) {
        return not_permitted;
    }
    return std::find(about_addresses.begin(), about_addresses.end(), error) != about_addresses.end() ? unavailable
                                                                                                     : os_error;
}

int of_settings(const SettingsError& error) noexcept {
    if (!error.unreadable()) {
        return config;
    }
    return is_refused(error.unreadable()) ? not_permitted : no_input;
}

}  // namespace telegate::exit_code

namespace telegate {

int write_out(std::ostream& out, std::ostream& errors, std::string_view text, int code) {
    if (out << text << std::flush) {
        return code;
    }
    errors << "telegate: cannot write to stdout: " << std::generic_category().message(errno) << '\n';
    return exit_code::io_error;
}

}  // namespace telegate
