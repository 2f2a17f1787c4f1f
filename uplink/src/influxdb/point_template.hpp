#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::uplink {

/// The texts that the words of a template stand for.
struct PointNames {
    std::string_view device;
    std::string_view channel;
    std::string_view gateway;
    std::string_view unit;

    [[nodiscard]] constexpr std::array<std::pair<std::string_view, std::string_view>, 4> words() const noexcept {
        return {{{"{device}", device}, {"{channel}", channel}, {"{gateway}", gateway}, {"{unit}", unit}}};
    }
};

/// Returns the text with its {words} replaced. Unknown ones remain. Threads: any. Failure: throws std::bad_alloc.
[[nodiscard]] inline std::string filled(std::string_view text, const PointNames& names) {
    std::string out;
    while (!text.empty()) {
        std::size_t taken = 1;
        std::string_view part = text.substr(0, 1);
        for (const auto& [word, value] : names.words()) {
            if (text.starts_with(word)) {
                taken = word.size();
                part = value;
            }
        }
        out += part;
        text.remove_prefix(taken);
    }
    return out;
}

/// Returns the first word in braces that is unknown; "": all are known. Threads: any. Failure: throws std::bad_alloc.
[[nodiscard]] inline std::string unknown_word(std::string_view text) {
    const std::string rest = filled(text, {});
    const std::size_t begin = rest.find_first_of("{}");
    if (begin == std::string::npos) {
        return "";
    }
    const std::size_t end = rest.find('}', begin);
    return rest.substr(begin, end == std::string::npos ? end : end - begin + 1);
}

}  // namespace telegate::uplink
