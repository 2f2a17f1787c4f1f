#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// Passes items of any size from one thread to one or more readers, which all get every item, as fast as memory
/// permits. Each side caches the position of the other one and publishes its own for many items at once.
///
/// Threads: one writer; one per reader.
/// Limits:  capacity bytes, including eight bytes per item; the slowest reader determines the free space.
/// Failure: the constructor throws std::bad_alloc.
class ByteRing {
  public:
    /// The ring has space for at least four items. The writer publishes a quarter of the ring at once.
    ByteRing(std::size_t capacity_min, std::size_t item_bytes_max, std::size_t readers)
        : capacity_(capacity_for(capacity_min, item_bytes_max)),
          bytes_(std::make_unique<std::uint64_t[]>(capacity_ / word)),
          readers_(readers) {}
    /// Returns the capacity of a ring with these parameters.
    [[nodiscard]] static constexpr std::size_t capacity_for(std::size_t capacity_min,
                                                            std::size_t item_bytes_max) noexcept {
        return std::bit_ceil(std::max(capacity_min, 4 * stride_of(item_bytes_max)));
    }

    /// Thread: writer. Returns false if the ring is full; then all items are published.
    [[nodiscard]] bool put(std::string_view item) noexcept {
        const std::size_t left = capacity_ - (put_ & (capacity_ - 1));
        const std::size_t needed = stride_of(item.size()) + (left < stride_of(item.size()) ? left : 0);
        if (put_ + needed - read_seen_ > capacity_ && !update_free(needed)) {
            publish();
            return false;
        }
        if (left < stride_of(item.size())) {
            write_size(put_, skip);
            put_ += left;
        }
        write_size(put_, item.size());
        std::memcpy(at(put_) + word, item.data(), item.size());
        put_ += stride_of(item.size());
        if (put_ - published_ >= capacity_ / 4) {
            publish();
        }
        return true;
    }
    /// Thread: writer.
    void publish() noexcept {
        published_ = put_;
        written_.store(put_, std::memory_order_release);
    }

    /// Thread: the reader's. Calls `each(data, bytes)` for some items. Returns whether there were any.
    template <class Each>
    bool take(std::size_t reader, const Each& each) noexcept {
        Reader& self = readers_[reader];
        std::uint64_t read = self.read.load(std::memory_order_relaxed);
        if (read == self.written_seen) {
            self.written_seen = written_.load(std::memory_order_acquire);
        }
        const std::uint64_t end = std::min<std::uint64_t>(self.written_seen, read + capacity_ / 4);
        if (read == self.written_seen) {
            return false;
        }
        while (read < end) {
            __builtin_prefetch(at(read + prefetch_bytes));
            std::uint64_t bytes = 0;
            std::memcpy(&bytes, at(read), word);
            if (bytes == skip) {
                read += capacity_ - (read & (capacity_ - 1));
                continue;
            }
            each(at(read) + word, static_cast<std::size_t>(bytes));
            read += stride_of(static_cast<std::size_t>(bytes));
        }
        self.read.store(read, std::memory_order_release);
        return true;
    }

  private:
    static constexpr std::size_t word = sizeof(std::uint64_t);
    static constexpr std::size_t cache_line_bytes = 64;
    static constexpr std::size_t prefetch_bytes = 1024;
    static constexpr std::uint64_t skip = UINT64_MAX;  // instead of a size: continue at the beginning

    struct alignas(cache_line_bytes) Reader {
        std::atomic<std::uint64_t> read{0};
        std::uint64_t written_seen = 0;
    };

    [[nodiscard]] static constexpr std::size_t stride_of(std::size_t item_bytes) noexcept {
        return word + (item_bytes + word - 1) / word * word;
    }
    [[nodiscard]] char* at(std::uint64_t position) noexcept {
        return reinterpret_cast<char*>(bytes_.get()) + (position & (capacity_ - 1));
    }
    void write_size(std::uint64_t position, std::uint64_t size) noexcept { std::memcpy(at(position), &size, word); }
    /// Reads the positions of the readers. Returns whether there are `needed` free bytes.
    [[nodiscard]] bool update_free(std::size_t needed) noexcept {
        read_seen_ = put_;
        for (const Reader& reader : readers_) {
            read_seen_ = std::min(read_seen_, reader.read.load(std::memory_order_acquire));
        }
        return put_ + needed - read_seen_ <= capacity_;
    }

    const std::size_t capacity_;
    const std::unique_ptr<std::uint64_t[]> bytes_;
    // Of the writer:
    alignas(cache_line_bytes) std::uint64_t put_ = 0;
    std::uint64_t published_ = 0;
    std::uint64_t read_seen_ = 0;
    alignas(cache_line_bytes) std::atomic<std::uint64_t> written_{0};
    std::vector<Reader> readers_;
};

}  // namespace telegate::perf
