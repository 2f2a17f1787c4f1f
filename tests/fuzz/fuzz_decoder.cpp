// The frame decoder. The first input byte selects the size limit and how the rest is split into pieces.
#include "core/assert.hpp"
#include "zmtp/decoder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {

// Every single-object allocation of the process, including a vector's, passes here. The largest one during a feed()
// bounds what the decoder requests.
thread_local std::size_t largest_allocation = 0;

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    largest_allocation = std::max(largest_allocation, size);
    return std::malloc(std::max<std::size_t>(size, 1));
}
void* operator new(std::size_t size) {
    void* const memory = operator new(size, std::nothrow);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}

using namespace telegate::zmtp;

namespace {

/// Appends a frame in its shortest form.
void append_frame(std::vector<std::byte>& out, const Frame& frame) {
    std::array<std::byte, frame_header_bytes_max> header{};
    const std::size_t header_bytes = write_frame_header(header.data(), frame.flags, frame.body.size());
    const Bytes body = frame_at(header.data()).body;
    TELEGATE_ASSERT(body.size() == frame.body.size() && body.data() == header.data() + header_bytes);
    out.insert(out.end(), header.begin(), header.begin() + static_cast<std::ptrdiff_t>(header_bytes));
    out.insert(out.end(), frame.body.begin(), frame.body.end());
}

/// Calls feed() and checks its memory use: at most the limit, and at most twice the bytes received.
[[nodiscard]] FeedStatus feed(FrameDecoder& decoder, Bytes& input, std::uint64_t frame_bytes_max,
                              std::size_t arrived_bytes) {
    largest_allocation = 0;
    const FeedStatus status = decoder.feed(input);
    TELEGATE_ASSERT(largest_allocation <= frame_bytes_max && largest_allocation <= 2 * arrived_bytes);
    return status;
}

struct Decoded {
    std::vector<std::byte> frames;  // all frames, in their shortest form
    std::string fault;
};

[[nodiscard]] Decoded decode(Bytes stream, std::size_t piece_bytes, std::uint64_t frame_bytes_max) {
    FrameDecoder decoder(frame_bytes_max);
    Decoded out;
    std::size_t arrived_bytes = 0;
    FeedStatus status = FeedStatus::need_more;
    while (status != FeedStatus::violation && !stream.empty()) {
        Bytes input = stream.first(std::min(piece_bytes, stream.size()));
        arrived_bytes += input.size();
        stream = stream.subspan(input.size());
        status = feed(decoder, input, frame_bytes_max, arrived_bytes);
        while (status == FeedStatus::frame_ready) {
            TELEGATE_ASSERT(decoder.frame().body.size() <= frame_bytes_max);
            append_frame(out.frames, decoder.frame());
            status = feed(decoder, input, frame_bytes_max, arrived_bytes);
        }
        TELEGATE_ASSERT(status == FeedStatus::violation || input.empty());
    }
    out.fault = decoder.fault();
    TELEGATE_ASSERT(out.fault.empty() == (status != FeedStatus::violation));
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::uint64_t frame_bytes_max = std::uint64_t{1} << (data[0] % 63U);
    const std::size_t piece_bytes = 2U + data[0] / 16U;
    const Bytes stream = std::as_bytes(std::span(data + 1, size - 1));

    const Decoded whole = decode(stream, std::max<std::size_t>(stream.size(), 1), frame_bytes_max);
    for (const std::size_t bytes : {std::size_t{1}, piece_bytes}) {
        const Decoded pieces = decode(stream, bytes, frame_bytes_max);
        TELEGATE_ASSERT(pieces.frames == whole.frames && pieces.fault == whole.fault);
    }
    const Decoded again = decode(whole.frames, std::max<std::size_t>(whole.frames.size(), 1), frame_bytes_max);
    TELEGATE_ASSERT(again.frames == whole.frames && again.fault.empty());
    return 0;
}
