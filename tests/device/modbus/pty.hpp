#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace telegate::test {

/// The far end of a serial line whose near end has a path.
class Pty {
  public:
    Pty() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
        std::array<char, 64> name{};
        if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0 ||
            ::ptsname_r(master_, name.data(), name.size()) != 0) {
            throw std::system_error(errno, std::generic_category(), "posix_openpt");
        }
        path_ = name.data();
    }
    ~Pty() { ::close(master_); }
    Pty(const Pty&) = delete;
    Pty& operator=(const Pty&) = delete;

    [[nodiscard]] int master() const noexcept { return master_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    const int master_;
    std::string path_;
};

}  // namespace telegate::test
