#pragma once

#include "buffers/segment_log.hpp"
#include "core/bytes.hpp"
#include "core/delivery.hpp"
#include "session/backlog.hpp"
#include "session/tail.hpp"
#include "zmtp/frame.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace telegate {

class SlowReader;

/// What waits to be sent to one peer, with its counts. It outlives a lost connection where another follows (Dealer).
/// `matched = sent + dropped + backlog.messages()`, always: whoever looks or changes something settles the tail first,
/// its own or the shared one, so that what is seen and changed is complete.
///
/// Threads: the reactor's.
/// Limits:  see Backlog; append() leaves the bound in bytes to has_room().
/// Failure: append() and add() may throw std::bad_alloc.
class Outbox {
  public:
    explicit Outbox(SegmentPool& pool);
    ~Outbox();
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    /// Its messages come by add() and by `tail` from now on, which lasts as long as it is used.
    void share(Tail& tail) noexcept { tail_ = &tail; }
    void settle() const noexcept { tail_->settle(); }

    /// One more message that lies in a shared log.
    void add(const Slice& message) {
        settle();
        if (const std::uint64_t lost = backlog_.add(message); lost > 0) {
            lose(LossReason::slow, lost);
        }
        ++matched_;  // last: it may not have been added
    }
    /// For Tail: `messages` more, which follow the last one in its segment.
    void extend(const Slice& added, std::uint64_t messages) noexcept {
        matched_ += messages;
        if (!backlog_.extend(added, messages)) {
            lose(LossReason::slow, messages);
        }
    }
    /// One more message of its own: copies the frames, one at least, with their headers.
    void append(std::span<const Bytes> frames);
    /// After append(): up to `bytes_max` bytes more may come by append_to_tail(), until anything else is asked for.
    void open_tail(std::size_t bytes_max) noexcept { own_tail_.open(log_, {&self_, 1}, bytes_max); }
    /// append() of frames or texts to the open tail. False, and nothing is done, when it has no room, or there is none.
    template <class Frames>
    [[nodiscard]] bool append_to_tail(const Frames& frames) noexcept;
    /// The same of one that is neither empty nor needs a long header, in few steps; false for any other.
    template <class Body>
    [[nodiscard]] bool append_short_to_tail(const Body& body) noexcept;
    /// Bytes that both have added so far.
    [[nodiscard]] std::uint64_t tail_bytes() const noexcept { return own_tail_.bytes(); }
    /// `messages` more that are lost already.
    void add_lost(std::uint64_t messages) noexcept {
        matched_ += messages;
        lose(LossReason::slow, messages);
    }
    /// One finished frame that is a message by itself, such as a command.
    void append_wire(Bytes wire);
    /// Whether a message may be added without passing `bytes_max`. An empty outbox takes any message. A refusal is
    /// remembered until end_refusal().
    [[nodiscard]] bool has_room(std::size_t message_bytes, std::size_t bytes_max) noexcept;
    /// Bytes that append() of these frames or texts takes.
    template <class Frames>
    [[nodiscard]] static std::size_t wire_bytes(const Frames& frames) noexcept;

    /// Whether has_room() has said no since the last end_refusal().
    [[nodiscard]] bool refused() const noexcept { return refused_; }
    void end_refusal() noexcept { refused_ = false; }
    /// As if has_room() had said no.
    void note_refusal() noexcept { refused_ = true; }

    [[nodiscard]] Backlog& backlog() noexcept {
        settle();
        return backlog_;
    }
    [[nodiscard]] const Backlog& backlog() const noexcept {
        settle();
        return backlog_;
    }
    /// What is to be sent next, as Backlog::gather(). While losses are to be told, only what comes before them.
    [[nodiscard]] std::size_t gather(std::span<StreamPart> out) const noexcept;
    /// To be called before gather(): lets the peer be told of losses, when its stream stands where they are.
    void tell_losses() {
        if (slow_ != nullptr) {
            tell_losses_now();
        }
    }
    /// `bytes` of what gather() gave are with the kernel. Returns messages completed.
    std::uint64_t consume(std::size_t bytes);
    void give_up_before(std::uint64_t log_position);
    /// They count as `disconnected`.
    void give_up_all() noexcept;
    /// The connection is lost and another will follow: what was under way is to be sent again from its start, or given
    /// up where its beginning is no longer there. `was_cut`: some bytes of the message that comes next had been sent;
    /// that message is given up when it happens for the cuts_per_message_max-th time.
    void restart_partial(bool was_cut) noexcept;

    [[nodiscard]] std::uint64_t matched() const noexcept {
        settle();
        return matched_;
    }
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    [[nodiscard]] std::uint64_t dropped() const noexcept;
    [[nodiscard]] const std::array<Losses, loss_reasons>& losses() const noexcept { return losses_; }

    /// Null unless the peer has a policy of its own, or is told of losses.
    [[nodiscard]] SlowReader* slow() const noexcept { return slow_.get(); }
    /// How its peer is treated when it reads slowly, from now on.
    void set_slow(std::unique_ptr<SlowReader> slow);
    /// How far it may be behind, where that is not the same for all.
    [[nodiscard]] std::size_t bytes_max_or(std::size_t bytes_max) const noexcept;

  private:
    friend class SlowReader;
    void lose(LossReason reason, std::uint64_t messages) noexcept;
    void tell_losses_now();
    template <class Frames>
    static std::byte* write_frames(std::byte* out, const Frames& frames) noexcept;
    void release_if_empty() noexcept;

    SegmentLog log_;  // of append(); has no segment while the backlog is empty
    Tail own_tail_;   // of log_
    Tail* tail_ = &own_tail_;
    Outbox* const self_ = this;  // the reader of its own tail
    Backlog backlog_;
    std::uint64_t matched_ = 0;
    std::uint64_t sent_ = 0;
    std::array<Losses, loss_reasons> losses_{};
    std::unique_ptr<SlowReader> slow_;
    unsigned cuts_ = 0;  // connections lost in the middle of the message that comes next
    bool refused_ = false;
};

template <class Frames>
std::size_t Outbox::wire_bytes(const Frames& frames) noexcept {
    std::size_t bytes = 0;
    for (const auto& frame : frames) {
        bytes += zmtp::frame_header_bytes(frame.size()) + frame.size();
    }
    return bytes;
}

/// Returns where they end.
template <class Frames>
std::byte* Outbox::write_frames(std::byte* out, const Frames& frames) noexcept {
    std::size_t left = frames.size();
    for (const auto& frame : frames) {
        const std::uint8_t flags = --left > 0 ? zmtp::frame_flag::more : std::uint8_t{0};
        out += zmtp::write_frame_header(out, flags, frame.size());
        if (!frame.empty()) {  // an empty one may have no address
            std::memcpy(out, frame.data(), frame.size());
            out += frame.size();
        }
    }
    return out;
}

template <class Body>
bool Outbox::append_short_to_tail(const Body& body) noexcept {
    constexpr std::size_t header_bytes = zmtp::frame_header_bytes(1);
    if (body.size() - 1 >= zmtp::short_body_bytes_max || !own_tail_.has_room(header_bytes + body.size())) {
        return false;
    }
    std::byte* const out = own_tail_.next();
    own_tail_.add(header_bytes + body.size());
    zmtp::write_short_frame_header(out, 0, body.size());
    std::memcpy(out + header_bytes, body.data(), body.size());
    return true;
}

template <class Frames>
bool Outbox::append_to_tail(const Frames& frames) noexcept {
    const std::size_t bytes = wire_bytes(frames);
    if (bytes == 0 || !own_tail_.has_room(bytes)) {
        return false;
    }
    std::byte* const out = own_tail_.next();
    own_tail_.add(bytes);
    write_frames(out, frames);
    return true;
}

}  // namespace telegate
