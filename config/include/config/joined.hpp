#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Joins the texts in order, with `separator` between them. Threads: any.
template <class Texts>
[[nodiscard]] std::string joined(const Texts& texts, std::string_view separator = ", ") {
    std::string all;
    bool is_first = true;
    for (const auto& text : texts) {
        all += is_first ? "" : separator;
        all += text;
        is_first = false;
    }
    return all;
}

}  // namespace telegate
