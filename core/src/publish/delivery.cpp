#include "core/delivery.hpp"

#include "zmtp/frame.hpp"

#include <cstring>
#include <initializer_list>

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
    const std::size_t bytes = zmtp::frame_header_bytes(topic.size()) + topic.size() +
                              zmtp::frame_header_bytes(payload.size()) + payload.size();
    if (!wire_.empty() && wire_.size() + bytes > bytes_max) {
        return false;
    }
    std::size_t end = wire_.size();
    wire_.resize(end + bytes);
    std::uint8_t flags = zmtp::frame_flag::more;
    for (const std::string_view frame : {topic, payload}) {
        end += zmtp::write_frame_header(wire_.data() + end, flags, frame.size());
        if (!frame.empty()) {
            std::memcpy(wire_.data() + end, frame.data(), frame.size());
        }
        end += frame.size();
        flags = 0;
    }
    ++messages_;
    return true;
}

}  // namespace telegate
