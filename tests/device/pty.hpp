#pragma once

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate::test {

/// The device end of a tty. The tty exists as long as the object.
class Pty {
  public:
    /// `flags` are those of the object's own descriptor; 0: blocking.
    explicit Pty(int flags = O_NONBLOCK) : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | flags)) {
        std::array<char, 64> name{};
        if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0 ||
            ::ptsname_r(master_, name.data(), name.size()) != 0) {
            throw std::runtime_error("cannot open a pseudo terminal");
        }
        path_ = name.data();
    }
    ~Pty() { ::close(master_); }
    Pty(const Pty&) = delete;
    Pty& operator=(const Pty&) = delete;

    /// All of it reaches the reader's side once the tty is set to raw mode.
    void say(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(master_, bytes.data(), bytes.size());
            if (written < 0) {
                throw std::runtime_error("cannot write to the terminal");
            }
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    /// The terminal mode of both sides.
    [[nodiscard]] termios mode() const {
        termios mode{};
        if (::tcgetattr(master_, &mode) != 0) {
            throw std::runtime_error("tcgetattr");
        }
        return mode;
    }
    [[nodiscard]] int master() const noexcept { return master_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Creates `link` as a symbolic link to the tty, as udev does in /dev/serial/by-id.
    void link_from(const std::string& link) const {
        std::filesystem::remove(link);
        std::filesystem::create_symlink(path_, link);
    }

  private:
    const int master_;
    std::string path_;
};

}  // namespace telegate::test
