#pragma once

#include "core/bytes.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// One received message. Its frames refer to the memory where they arrived.
class Message {
  public:
    explicit Message(std::span<const Bytes> frames) noexcept : frames_(frames) {}

    /// Returns the number of frames, at least one.
    [[nodiscard]] std::size_t size() const noexcept { return frames_.size(); }
    [[nodiscard]] Bytes operator[](std::size_t index) const noexcept { return frames_[index]; }
    [[nodiscard]] std::string_view text(std::size_t index) const noexcept { return as_text(frames_[index]); }
    [[nodiscard]] auto begin() const noexcept { return frames_.begin(); }
    [[nodiscard]] auto end() const noexcept { return frames_.end(); }

  private:
    std::span<const Bytes> frames_;
};

/// Whole messages of one peer, in order. They refer to the socket's receive buffer and are valid until the next
/// receive() on that socket or until its reactor runs.
///
/// Threads: one. Limits: the result of one receive(), see limits.hpp. Failure: may throw std::bad_alloc while it is
/// filled.
class MessageBatch {
  public:
    MessageBatch() = default;
    MessageBatch(const MessageBatch& other);
    MessageBatch(MessageBatch&& other) noexcept { swap(other); }
    MessageBatch& operator=(MessageBatch other) noexcept {
        swap(other);
        return *this;
    }

    [[nodiscard]] std::size_t size() const noexcept { return messages_; }
    [[nodiscard]] bool empty() const noexcept { return messages_ == 0; }
    [[nodiscard]] Message operator[](std::size_t index) const noexcept { return begin()[index]; }
    /// Returns the routing identity of the peer, for Router::send().
    [[nodiscard]] std::string_view peer() const noexcept { return peer_; }

    class Iterator {
      public:
        Iterator(const Bytes* frames, const std::uint32_t* bound) noexcept : frames_(frames), bound_(bound) {}
        [[nodiscard]] Message operator*() const noexcept { return (*this)[0]; }
        [[nodiscard]] Message operator[](std::size_t index) const noexcept {
            const std::uint32_t* const bound = bound_ + index;
            return Message(std::span(frames_ + bound[0], bound[1] - bound[0]));
        }
        Iterator& operator++() noexcept {
            ++bound_;
            return *this;
        }
        [[nodiscard]] std::size_t operator-(const Iterator& other) const noexcept {
            return static_cast<std::size_t>(bound_ - other.bound_);
        }
        [[nodiscard]] bool operator==(const Iterator& other) const noexcept { return bound_ == other.bound_; }

      private:
        const Bytes* frames_;
        const std::uint32_t* bound_;
    };
    [[nodiscard]] Iterator begin() const noexcept { return {frames_.data(), bounds_.data()}; }
    [[nodiscard]] Iterator end() const noexcept { return {frames_.data(), bounds_.data() + messages_}; }

    // For sockets, which fill the batch.
    void clear() noexcept {
        count_ = 0;
        messages_ = 0;
        peer_ = {};
    }
    /// Reserves memory for this many more frames.
    void make_room(std::size_t frames) {
        if (frames_.size() - count_ < frames) {
            grow(frames);
        }
    }
    void set_peer(std::string_view peer) noexcept { peer_ = peer; }
    void add_frame(Bytes frame) {
        make_room(1);
        frames_[count_++] = frame;
    }
    /// Ends a message of at least one frame.
    void end_message() noexcept { bounds_[++messages_] = static_cast<std::uint32_t>(count_); }
    /// Returns the frames added since the last end_message().
    [[nodiscard]] std::span<const Bytes> unfinished() const noexcept {
        return std::span(frames_).first(count_).subspan(finished());
    }
    /// Discards the unfinished message.
    void rewind() noexcept { count_ = finished(); }
    /// Discards the messages for which `keep(message)` is false. There must be no unfinished message. Returns whether
    /// any message was discarded.
    template <class Keep>
    bool keep_if(const Keep& keep);

    /// Performs add_frame() and end_message() for many frames, through pointers that can be kept in registers. At most
    /// room() frames may be added.
    struct Run {
        const Bytes* frames;      // the first frame of the batch
        Bytes* frame;             // the next frame
        const Bytes* frames_end;  // the end of the reserved frames
        std::uint32_t* bound;     // the end of the last message

        [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(frames_end - frame); }
        void add_frame(Bytes added) noexcept { *frame++ = added; }
        void end_message() noexcept { *++bound = static_cast<std::uint32_t>(frame - frames); }
    };
    /// Begins a run of up to `frames_max` frames, limited by the reserved memory. The batch must not change until
    /// end_run().
    [[nodiscard]] Run begin_run(std::size_t frames_max) noexcept {
        Bytes* const next = frames_.data() + count_;
        return {frames_.data(), next, next + std::min(frames_max, frames_.size() - count_), bounds_.data() + messages_};
    }
    void end_run(const Run& run) noexcept {
        count_ = static_cast<std::size_t>(run.frame - run.frames);
        messages_ = static_cast<std::size_t>(run.bound - bounds_.data());
    }

  private:
    static constexpr std::size_t frames_min = 256;

    /// Leaves items constructed without a value uninitialized: a batch may only hold a few messages, and most of its
    /// memory is never used.
    template <class Item>
    struct Uninitialized : std::allocator<Item> {
        template <class Other>
        struct rebind {
            using other = Uninitialized<Other>;
        };
        void construct(Item* /*item*/) noexcept {}
        template <class... Values>
        void construct(Item* item, Values&&... values) {
            std::construct_at(item, std::forward<Values>(values)...);
        }
    };
    template <class Item>
    using Room = std::vector<Item, Uninitialized<Item>>;

    [[nodiscard]] std::size_t finished() const noexcept { return messages_ == 0 ? 0 : bounds_[messages_]; }
    void grow(std::size_t frames_more) {
        const std::size_t room = std::max({frames_min, 2 * frames_.size(), count_ + frames_more});
        Room<Bytes> frames(room);
        Room<std::uint32_t> bounds(room + 1);
        std::copy_n(frames_.begin(), count_, frames.begin());
        bounds[0] = 0;
        std::copy_n(bounds_.begin(), bounds_.empty() ? 0 : messages_ + 1, bounds.begin());
        frames_.swap(frames);
        bounds_.swap(bounds);
    }
    void swap(MessageBatch& other) noexcept {
        frames_.swap(other.frames_);
        bounds_.swap(other.bounds_);
        std::swap(count_, other.count_);
        std::swap(messages_, other.messages_);
        std::swap(peer_, other.peer_);
    }

    Room<Bytes> frames_;          // as many as are reserved
    Room<std::uint32_t> bounds_;  // 0, then the end of each message as an index into frames_; one more than frames_
    std::size_t count_ = 0;       // frames in use
    std::size_t messages_ = 0;
    std::string_view peer_;
};

inline MessageBatch::MessageBatch(const MessageBatch& other) : peer_(other.peer_) {
    for (const Message message : other) {
        for (const Bytes frame : message) {
            add_frame(frame);
        }
        end_message();
    }
}

template <class Keep>
bool MessageBatch::keep_if(const Keep& keep) {
    Iterator first = begin();
    const Iterator last = end();
    while (first != last && keep(*first)) {
        ++first;
    }
    if (first == last) {
        return false;
    }
    std::size_t kept = first - begin();
    std::uint32_t kept_end = bounds_[kept];
    for (std::size_t index = kept + 1; index < messages_; ++index) {
        std::uint32_t begin = bounds_[index];
        const std::uint32_t end = bounds_[index + 1];
        if (keep(Message(std::span(frames_).subspan(begin, end - begin)))) {
            for (; begin < end; ++begin) {
                frames_[kept_end++] = frames_[begin];
            }
            bounds_[++kept] = kept_end;
        }
    }
    messages_ = kept;
    count_ = kept_end;
    return true;
}

/// Reads the messages of a Subscriber, Router or Dealer one by one. Only calls the socket when a batch is used up, so
/// that one message costs almost nothing.
///
/// Threads: the socket's. Limits: one batch. Failure: as receive_for() of the socket.
template <class Socket>
class MessageReader {
  public:
    /// The socket must outlive the reader.
    explicit MessageReader(Socket& socket) noexcept : socket_(socket) {}

    /// Returns the next message, or nullopt if none arrives within `time`. The message is valid until the next call,
    /// until another function of the socket receives, or until its reactor runs. Must not be called in a handler.
    [[nodiscard]] std::optional<Message> next(std::chrono::milliseconds time) {
        if (next_ == batch_.size()) {
            next_ = 0;
            if (!socket_.receive_for(batch_, time)) {
                return std::nullopt;
            }
        }
        return batch_[next_++];
    }
    /// Returns the routing identity of the peer that sent the message.
    [[nodiscard]] std::string_view peer() const noexcept { return batch_.peer(); }

  private:
    Socket& socket_;
    MessageBatch batch_;
    std::size_t next_ = 0;
};

}  // namespace telegate
