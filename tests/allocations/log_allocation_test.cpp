#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "store/sample_log.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <malloc.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::store;

namespace {

std::size_t bytes_allocated() {
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

}  // namespace

TEST_CASE("blocks of many channels that are not synced take no more memory than their limit", "[store][allocations]") {
    constexpr std::size_t channel_count = 5'000;
    constexpr std::size_t other_memory_max = 3 * 1'048'576;
    ChannelTable channels;
    std::vector<TelemetrySample> samples(channel_count);
    for (TelemetrySample& sample : samples) {
        const auto number = static_cast<std::size_t>(&sample - samples.data());
        sample.channel = channels.add(DeviceId{0}, "device", std::to_string(number), "").value();
        sample.type = ValueType::integer;
    }
    const test::ScratchDir directory;
    const SystemClock clock;
    SampleLog log({real_file_system(), channels, clock}, {directory.path(), 1, LogId{std::byte{1}}});
    const std::size_t before = bytes_allocated();
    for (int block = 0; block < 200; ++block) {
        REQUIRE(log.has_capacity());
        for (TelemetrySample& sample : samples) {
            ++sample.seq;
            sample.time_mono_ns += 1;
        }
        log.append(samples);
        log.write();
        REQUIRE(bytes_allocated() - before < SampleLog::unsynced_bytes_max + other_memory_max);
    }
    log.sync();
    CHECK(log.status().samples == 200 * channel_count);
}
