#pragma once

#include "core/clock.hpp"
#include "device/sample_batch.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate::host {

/// What a source needs in one tick. `buffer` holds one file at a time.
struct Tick {
    SampleBatch& batch;
    MonoTime now;
    std::span<char> buffer;
};

/// The error for the value `text` of the list setting `key`.
[[nodiscard]] inline std::invalid_argument refused_option(std::string_view key, std::string_view text,
                                                          std::string_view allowed) {
    return std::invalid_argument(std::string(key) + ": \"" + std::string(text) +
                                 "\": allowed: " + std::string(allowed));
}

}  // namespace telegate::host
