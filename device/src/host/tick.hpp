#pragma once

#include "core/clock.hpp"
#include "device/sample_batch.hpp"

#include <span>

namespace telegate::host {

/// What a source needs in one tick. `buffer` holds one file at a time.
struct Tick {
    SampleBatch& batch;
    MonoTime now;
    std::span<char> buffer;
};

}  // namespace telegate::host
