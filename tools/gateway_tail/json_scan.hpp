#pragma once

#include "sample.hpp"

#include <string_view>

namespace telegate::tail {

/// A sample object whose keys have the order of docs/wire.md, without spaces, escapes and further keys, which is how
/// gateways write nearly all samples. parse_any_sample() reads the others.
struct ScannedSample {
    std::string_view device;
    std::string_view channel;
    Sample sample;  // without its topic
};

/// Removes one object from the front of `text` and returns true. If it returns false, `text` is unchanged and `scanned`
/// is unspecified.
[[nodiscard]] bool scan_sample(std::string_view& text, ScannedSample& scanned) noexcept;

}  // namespace telegate::tail
