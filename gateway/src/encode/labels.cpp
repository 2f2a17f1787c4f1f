#include "encode/labels.hpp"

#include "core/topic.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

namespace telegate {
namespace {

const Labels no_labels;

/// Returns the name of the host as one word of a topic or a subject.
std::string host_word() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    ::gethostname(name.data(), name.size() - 1);
    std::string word = to_topic_part(name.data());
    std::replace(word.begin(), word.end(), '.', '_');
    return word;
}

void append_text(std::string& out, const Tags& tags) {
    for (const Tag& tag : tags) {
        out.append(tag.name).append("=").append(tag.value).append("\n");
    }
}

}  // namespace

Labels::Labels(const Settings& settings) : gateway_(settings.name.empty() ? host_word() : settings.name) {
    for (const TagSettings& tag : settings.tags) {
        tags_.push_back({tag.name, tag.value});
    }
}

std::string Labels::tags_text() const {
    std::string text;
    append_text(text, tags_);
    return text;
}

const std::string& gateway_of(const SharedLabels& labels) noexcept {
    return labels == nullptr ? no_labels.gateway() : labels->gateway();
}

const Tags& tags_of(const SharedLabels& labels, const ChannelInfo& /*channel*/) noexcept {
    return labels == nullptr ? no_labels.gateway_tags() : labels->gateway_tags();
}

}  // namespace telegate
