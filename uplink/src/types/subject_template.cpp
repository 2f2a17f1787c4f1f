#include "uplink/subject_template.hpp"

#include "uplink/server_url.hpp"

#include "config/joined.hpp"

#include <algorithm>
#include <cstddef>

namespace telegate {
namespace {

constexpr std::string_view device_word = "{device}";
constexpr std::string_view channel_word = "{channel}";
constexpr std::string_view gateway_word = "{gateway}";

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> words;
    for (;;) {
        const std::size_t dot = text.find('.');
        words.emplace_back(text.substr(0, dot));
        if (dot == std::string_view::npos) {
            return words;
        }
        text.remove_prefix(dot + 1);
    }
}

std::string as_word(std::string_view name) {
    std::string word(name);
    std::replace(word.begin(), word.end(), '.', '_');
    return word;
}

bool is_of_channel(std::string_view word) {
    return word == device_word || word == channel_word;
}

}  // namespace

SubjectTemplate::SubjectTemplate(std::string_view text, std::string_view gateway) : words_(split(text)) {
    std::replace(words_.begin(), words_.end(), std::string(gateway_word), as_word(gateway));
    depends_on_channel_ = std::any_of(words_.begin(), words_.end(), is_of_channel);
}

bool SubjectTemplate::is_valid(std::string_view text) {
    std::vector<std::string> words = split(text);
    std::replace_if(
        words.begin(), words.end(), [](const std::string& word) { return is_of_channel(word) || word == gateway_word; },
        std::string("word"));
    const std::string subject = joined(words, ".");
    return uplink::is_nats_subject(subject) && subject.find_first_of("{}") == std::string::npos;
}

std::string SubjectTemplate::subject(std::string_view device, std::string_view channel) const {
    std::vector<std::string> words = words_;
    for (std::string& word : words) {
        if (is_of_channel(word)) {
            word = as_word(word == device_word ? device : channel);
        }
    }
    return joined(words, ".");
}

std::string SubjectTemplate::pattern() const {
    std::vector<std::string> words = words_;
    std::replace_if(words.begin(), words.end(), is_of_channel, std::string("*"));
    return joined(words, ".");
}

}  // namespace telegate
