#include "lines/channel_set.hpp"

#include "core/topic.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace telegate {

ChannelSet::ChannelSet(std::size_t channels_max) : channels_max_(channels_max) {}

void ChannelSet::reserve(std::string name) {
    reserved_.push_back(std::move(name));
}

SampleBatch::Channel ChannelSet::channel(SampleBatch& batch, std::string_view name, std::string_view unit) {
    const std::string_view key = name.substr(0, topic_part_bytes_max);  // topic parts are not longer
    const auto known = channels_.find(key);
    SampleBatch::Channel found = SampleBatch::Channel::none;
    if (known != channels_.end()) {
        found = known->second;
    } else if (size() < channels_max_) {
        if (std::find(reserved_.begin(), reserved_.end(), to_topic_part(key)) == reserved_.end()) {
            found = batch.add_channel(key, unit);  // none if the table of all channels is full
        }
        channels_.emplace(key, found);
    }
    refused_ += found == SampleBatch::Channel::none ? 1 : 0;
    return found;
}

void ChannelSet::add(SampleBatch& batch, const LineField& field) {
    const SampleBatch::Channel to = channel(batch, field.name, field.unit);
    std::visit(
        [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                batch.add_absent(to);
            } else {
                batch.add(to, value);
            }
        },
        field.value);
}

}  // namespace telegate
