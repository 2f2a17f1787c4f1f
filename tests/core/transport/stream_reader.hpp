#pragma once

#include "buffers/buffer_pool.hpp"
#include "buffers/input.hpp"
#include "transport/stream.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace telegate::test {

/// Reads a stream as a session does, and takes all data at once.
class StreamReader {
  public:
    explicit StreamReader(Stream& stream, std::size_t buffer_bytes = 64 * 1024)
        : stream_(stream), pool_(buffer_bytes), input_(pool_) {}

    /// Reads at most `reads_max` times, or until there is no more. Returns everything read so far.
    const std::string& read(std::size_t reads_max = static_cast<std::size_t>(-1)) {
        for (std::size_t count = 0; count < reads_max && last.status != IoStatus::end; ++count) {
            last = stream_.read(input_);
            if (last.status != IoStatus::ok) {
                break;
            }
            consume(input_.unread().size());
        }
        return received;
    }
    void consume(std::size_t bytes) {
        received.append(reinterpret_cast<const char*>(input_.unread().data()), bytes);
        input_.consume(bytes);
    }
    [[nodiscard]] bool at_end() {
        read();
        return last.status == IoStatus::end;
    }
    [[nodiscard]] Input& input() noexcept { return input_; }

    std::string received;
    StreamRead last;

  private:
    Stream& stream_;
    BufferPool pool_;
    Input input_;
};

/// Writes bytes that are valid only during the call.
inline StreamWrite write_text(Stream& stream, std::string_view text) {
    const StreamPart part{reinterpret_cast<const std::byte*>(text.data()), text.size(), nullptr};
    return stream.write({&part, 1});
}

/// Returns `bytes` bytes that depend on their position, from `start` on.
inline std::string pattern(std::size_t bytes, std::size_t start = 0) {
    std::string text(bytes, '\0');
    for (std::size_t at = 0; at < bytes; ++at) {
        text[at] = static_cast<char>((start + at) % 251);
    }
    return text;
}

}  // namespace telegate::test
