#pragma once

#include "core/clock.hpp"
#include "device/option_error.hpp"
#include "device/sample_batch.hpp"

#include <span>
#include <string>
#include <string_view>

namespace telegate::host {

/// The context of a source in one tick. `buffer` holds one file at a time.
struct Tick {
    SampleBatch& batch;
    MonoTime now;
    std::span<char> buffer;
};

/// Returns the error for the value `text` of the list setting `key`.
[[nodiscard]] inline OptionError refused_option(const std::string& key, std::string_view text,
                                                const std::string& allowed) {
    return {key, '"' + std::string(text) + "\"; must be " + allowed};
}

}  // namespace telegate::host
