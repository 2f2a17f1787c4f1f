#pragma once

#include "core/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// One received message: its frames, where they arrived.
class Message {
  public:
    explicit Message(std::span<const Bytes> frames) noexcept : frames_(frames) {}

    /// Frames, one at least.
    [[nodiscard]] std::size_t size() const noexcept { return frames_.size(); }
    [[nodiscard]] Bytes operator[](std::size_t index) const noexcept { return frames_[index]; }
    [[nodiscard]] std::string_view text(std::size_t index) const noexcept { return as_text(frames_[index]); }
    [[nodiscard]] auto begin() const noexcept { return frames_.begin(); }
    [[nodiscard]] auto end() const noexcept { return frames_.end(); }

  private:
    std::span<const Bytes> frames_;
};

/// Whole messages of one peer, in order. What they show lies in the socket's receive buffer: it lasts until the next
/// receive() on that socket or until its reactor turns.
///
/// Threads: one. Limits: what one receive() gives, see limits.hpp. Failure: may throw std::bad_alloc while it fills.
class MessageBatch {
  public:
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
    [[nodiscard]] Message operator[](std::size_t index) const noexcept {
        const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
        return Message(std::span(frames_).subspan(begin, ends_[index] - begin));
    }
    /// The routing identity of the peer, for Router::send().
    [[nodiscard]] std::string_view peer() const noexcept { return peer_; }

    class Iterator {
      public:
        Iterator(const MessageBatch& batch, std::size_t index) noexcept : batch_(&batch), index_(index) {}
        [[nodiscard]] Message operator*() const noexcept { return (*batch_)[index_]; }
        Iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        [[nodiscard]] bool operator==(const Iterator& other) const noexcept { return index_ == other.index_; }

      private:
        const MessageBatch* batch_;
        std::size_t index_;
    };
    [[nodiscard]] Iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] Iterator end() const noexcept { return {*this, size()}; }

    // For sockets, which fill it.
    void clear() noexcept {
        frames_.clear();
        ends_.clear();
        peer_ = {};
    }
    void set_peer(std::string_view peer) noexcept { peer_ = peer; }
    void add_frame(Bytes frame) { frames_.push_back(frame); }
    void end_message() { ends_.push_back(static_cast<std::uint32_t>(frames_.size())); }
    /// Frames of the message that add_frame() has begun and end_message() has not ended.
    [[nodiscard]] std::span<const Bytes> unfinished() const noexcept {
        return std::span(frames_).subspan(ends_.empty() ? 0 : ends_.back());
    }
    /// Forgets the unfinished message.
    void rewind() { frames_.resize(ends_.empty() ? 0 : ends_.back()); }
    /// Forgets the last whole message; there is no unfinished one.
    void drop_last() {
        ends_.pop_back();
        rewind();
    }
    /// Forgets the messages for which `keep(message)` does not hold; there is no unfinished one. Whether any went.
    template <class Keep>
    bool keep_if(const Keep& keep) {
        std::size_t index = 0;
        while (index < size() && keep((*this)[index])) {
            ++index;
        }
        if (index == size()) {
            return false;
        }
        std::size_t kept = index;
        std::uint32_t kept_end = index == 0 ? 0 : ends_[index - 1];
        std::uint32_t begin = ends_[index];
        for (++index; index < size(); ++index) {
            const std::uint32_t end = ends_[index];
            if (keep(Message(std::span(frames_).subspan(begin, end - begin)))) {
                for (; begin < end; ++begin) {
                    frames_[kept_end++] = frames_[begin];
                }
                ends_[kept++] = kept_end;
            }
            begin = end;
        }
        frames_.resize(kept_end);
        ends_.resize(kept);
        return true;
    }

  private:
    std::vector<Bytes> frames_;
    std::vector<std::uint32_t> ends_;  // behind the last frame of each message
    std::string_view peer_;
};

}  // namespace telegate
