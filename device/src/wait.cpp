#include "wait.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>

namespace telegate {

WaitResult wait_for(int descriptor, short events, const CancelSignal* cancel, MonoTime until) noexcept {
    using std::chrono::seconds;
    std::array<pollfd, 2> watched{pollfd{cancel == nullptr ? -1 : cancel->descriptor(), POLLIN, 0},
                                  pollfd{descriptor, events, 0}};
    for (;;) {
        const Duration left = std::max(Duration::zero(), Duration(until - std::chrono::steady_clock::now()));
        const auto whole = std::chrono::duration_cast<seconds>(left);
        const timespec time{static_cast<std::time_t>(whole.count()), static_cast<long>((left - whole).count())};
        const int count = ::ppoll(watched.data(), watched.size(), &time, nullptr);
        if (count < 0 && errno != EINTR) {
            return {Woken::ready, POLLERR};  // the next operation on the descriptor returns the error
        }
        if (cancel != nullptr && cancel->is_set()) {
            return {Woken::canceled, 0};
        }
        if (count > 0 && watched[1].revents != 0) {
            return {Woken::ready, watched[1].revents};
        }
        if (left == Duration::zero()) {
            return {Woken::timed_out, 0};
        }
    }
}

}  // namespace telegate
