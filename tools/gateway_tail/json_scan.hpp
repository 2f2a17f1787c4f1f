#pragma once

#include "sample.hpp"

#include <string_view>

namespace telegate::tail {

/// A sample object whose keys stand in the order of docs/wire.md, without spaces, escapes and further keys: as a
/// gateway writes nearly all of them. What differs is for parse_any().
struct ScannedSample {
    std::string_view device;
    std::string_view channel;
    Sample sample;  // without its topic
};

/// Takes one object from the front of `text`. False: `text` is as it was, and `scanned` anything.
[[nodiscard]] bool scan_sample(std::string_view& text, ScannedSample& scanned) noexcept;

}  // namespace telegate::tail
