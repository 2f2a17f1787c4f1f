#include "headroom.hpp"

#include "outbox.hpp"
#include "session.hpp"

#include <algorithm>

namespace telegate {

bool Headroom::look(std::uint64_t end, std::uint64_t given) noexcept {
    bool anything_waits = false;
    oldest_ = log_.position() + tail_.open_bytes();
    std::size_t runs = limits::backlog_runs_max;
    for (const auto& session : peers_.sessions()) {
        const Backlog& backlog = session->outbox()->backlog();
        if (const auto position = backlog.oldest_position()) {
            anything_waits = true;
            oldest_ = std::min(oldest_, *position);
        }
        runs = std::min(runs, backlog.runs_left());
    }
    given_max_ = given + runs;
    return !anything_waits || is_known(end, given);  // one that is larger than the backlog goes alone
}

}  // namespace telegate
