#include "services/pending_requests.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace telegate {
namespace {

using Mark = std::uint32_t;
constexpr Mark more_follows = Mark{1} << 31U;  // the largest frame is far shorter

Mark mark_at(std::string_view packed, std::size_t at) noexcept {
    Mark mark = 0;
    std::memcpy(&mark, packed.data() + at, sizeof mark);
    return mark;
}

std::size_t packed_bytes(Mark mark) noexcept {
    return sizeof mark + (mark & ~more_follows);
}

std::size_t packed_bytes(const MessageBatch& batch) noexcept {
    std::size_t bytes = 0;
    for (const Message message : batch) {
        for (const Bytes frame : message) {
            bytes += sizeof(Mark) + frame.size();
        }
    }
    return bytes;
}

}  // namespace

void PendingRequests::add(const MessageBatch& batch) {
    packed_.reserve(packed_.size() + packed_bytes(batch));  // exact, to save memory
    for (const Message message : batch) {
        for (std::size_t i = 0; i < message.size(); ++i) {
            const Mark mark = static_cast<Mark>(message[i].size()) | (i + 1 < message.size() ? more_follows : Mark{0});
            packed_.append(reinterpret_cast<const char*>(&mark), sizeof mark);
            packed_.append(message.text(i));
        }
        ++count_;
    }
}

std::vector<std::string_view> PendingRequests::front_frames() const {
    std::vector<std::string_view> frames;
    std::size_t at = next_;
    Mark mark = more_follows;
    while ((mark & more_follows) != 0) {
        mark = mark_at(packed_, at);
        frames.push_back(std::string_view(packed_).substr(at + sizeof mark, mark & ~more_follows));
        at += packed_bytes(mark);
    }
    return frames;
}

PendingRequest PendingRequests::front() const {
    const std::vector<std::string_view> frames = front_frames();
    PendingRequest pending;
    const auto delimiter = std::find(frames.begin(), frames.end(), std::string_view());
    const auto body = delimiter == frames.end() ? frames.begin() : delimiter + 1;
    std::size_t envelope_bytes = 0;
    std::for_each(frames.begin(), body, [&](std::string_view frame) { envelope_bytes += frame.size(); });
    if (envelope_bytes <= envelope_bytes_max) {
        pending.envelope.assign(frames.begin(), body);
    }
    if (frames.end() - body != 1) {
        pending.fault = "the request has " + std::to_string(frames.end() - body) +
                        " frames: must be one, or one after an empty frame";
    } else if (envelope_bytes > envelope_bytes_max) {
        pending.fault = "the envelope frames of the request are " + std::to_string(envelope_bytes) +
                        " bytes: must be at most " + std::to_string(envelope_bytes_max) +
                        "; the reply is sent without them";
    } else {
        pending.body = *body;
    }
    return pending;
}

void PendingRequests::pop_front() {
    Mark mark = more_follows;
    while ((mark & more_follows) != 0) {
        mark = mark_at(packed_, next_);
        next_ += packed_bytes(mark);
    }
    if (--count_ == 0) {
        std::string().swap(packed_);
        next_ = 0;
    }
}

}  // namespace telegate
