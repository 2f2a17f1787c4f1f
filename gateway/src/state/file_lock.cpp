#include "state/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>

namespace telegate {

FileLock::FileLock(const std::string& path) {
    const std::string name = path + ".lock";
    file_ = UniqueFd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (file_.get() < 0 || ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        const int error = errno == EWOULDBLOCK ? EBUSY : errno;
        throw std::system_error(error, std::generic_category(), "lock " + name);
    }
}

}  // namespace telegate
