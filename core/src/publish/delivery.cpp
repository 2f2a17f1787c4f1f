#include "core/delivery.hpp"

#include "zmtp/frame.hpp"

namespace telegate {

std::string_view to_string(SlowPolicy policy) noexcept {
    switch (policy) {
        case SlowPolicy::drop_oldest: return "drop_oldest";
        case SlowPolicy::drop_newest: return "drop_newest";
        case SlowPolicy::disconnect: return "disconnect";
        case SlowPolicy::block: return "block";
        case SlowPolicy::conflate: return "conflate";
    }
    return "";
}

std::string_view to_string(LossReason reason) noexcept {
    switch (reason) {
        case LossReason::slow: return "slow";
        case LossReason::expired: return "expired";
        case LossReason::conflated: return "conflated";
        case LossReason::disconnected: return "disconnected";
    }
    return "unknown";
}

bool NoticeWriter::write(std::string_view topic, std::string_view payload) {
    const std::array frames{topic, payload};
    const std::size_t bytes = zmtp::message_bytes(frames);
    if (!wire_.empty() && wire_.size() + bytes > bytes_max) {
        return false;
    }
    wire_.resize(wire_.size() + bytes);
    zmtp::write_message(wire_.data() + wire_.size() - bytes, frames);
    ++messages_;
    return true;
}

}  // namespace telegate
