// The receiver: arbitrary bytes, however they are split, give the same messages, commands and fault. The first input
// bytes select the limits and how the rest is split into pieces.
#include "core/assert.hpp"
#include "support/receiver_transcript.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using namespace telegate;
using namespace telegate::test;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t settings_bytes = 4;
    if (size < settings_bytes) {
        return 0;
    }
    ReceiverSetting setting;
    setting.buffer_bytes = 32;
    setting.message_bytes_max = std::size_t{1} << (data[0] % 40U);
    setting.frames_per_message_max = 1U + data[1] % 16U;
    const std::vector<std::size_t> pieces = {1U + data[2], 1U + data[3] % 16U};
    const Bytes stream = std::as_bytes(std::span(data + settings_bytes, size - settings_bytes));

    ReceiverSetting roomy = setting;
    roomy.buffer_bytes = 64 * 1024;
    const Transcript whole = transcript(stream, {stream.size() + 1}, roomy);
    TELEGATE_ASSERT(transcript(stream, {stream.size() + 1}, setting).same_as(whole));
    TELEGATE_ASSERT(transcript(stream, {1}, setting).same_as(whole));
    TELEGATE_ASSERT(transcript(stream, pieces, setting).same_as(whole));
    // No memory is allocated for data that has only been announced.
    TELEGATE_ASSERT(whole.unread_bytes_max <= stream.size());
    setting.frames_per_turn = 1U + data[3] / 16U;
    TELEGATE_ASSERT(transcript(stream, pieces, setting).same_as(whole));
    return 0;
}
