#include "publish/topic_table.hpp"

#include "zmtp/frame.hpp"

#include <algorithm>
#include <cstring>

namespace telegate {

void TopicFrame::set(std::string_view name, TopicPlace place) {
    if (place == TopicPlace::in_payload) {
        bytes_.assign(step_bytes, std::byte{0});
        return;
    }
    size_ = zmtp::frame_header_bytes(name.size()) + name.size();
    bytes_.assign((size_ + step_bytes - 1) / step_bytes * step_bytes, std::byte{0});
    const std::size_t header = zmtp::write_frame_header(bytes_.data(), zmtp::frame_flag::more, name.size());
    if (!name.empty()) {
        std::memcpy(bytes_.data() + header, name.data(), name.size());
    }
}

TopicId TopicTable::intern(std::string_view name, TopicPlace place) {
    auto& ids = ids_[static_cast<std::size_t>(place)];
    if (const auto known = ids.find(name); known != ids.end()) {
        return known->second;
    }
    const auto id = static_cast<TopicId>(topics_.size());
    Topic& topic = *topics_.emplace_back(std::make_unique<Topic>());
    topic.name = name;
    topic.frame.set(name, place);
    frame_bytes_max_ = std::max(frame_bytes_max_, topic.frame.size());
    sorted_.emplace(topic.name, &topic);
    ids.emplace(topic.name, id);
    return id;
}

void TopicTable::make_stale(std::string_view prefix) noexcept {
    std::size_t count = 0;
    for (auto topic = sorted_.lower_bound(prefix); topic != sorted_.end() && topic->first.starts_with(prefix);
         ++topic) {
        if (++count > range_max) {
            return make_all_stale();
        }
        topic->second->fresh_at = 0;
        topic->second->readers.reset();
    }
}

}  // namespace telegate
