#pragma once

#include "transport/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {

/// The remote end and the script of a FaultyStream: the data it delivers and accepts, the sizes of the pieces, and its
/// failures. Outlives the stream, so that a test can inspect what was written.
///
/// Threads: one. Limits: none. Failure: as scripted.
struct Wire {
    static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

    std::string incoming;        // not read yet
    bool incoming_ends = false;  // after the incoming bytes
    bool reports_more = false;   // whether a read reports remaining data
    // sizes of consecutive reads, repeated cyclically; empty: everything available
    std::vector<std::size_t> read_pieces;
    std::string written;                     // so far
    bool writing_ended = false;              // set by the stream's owner
    std::size_t write_bytes_max = no_limit;  // maximum size of one write
    std::size_t room = no_limit;             // bytes accepted before it blocks
    std::size_t blocks_every = 0;            // every n-th operation would block; 0: none

    std::size_t operations = 0;  // reads and writes so far
    std::size_t fail_at = 0;     // number of the operation that fails, like all after it; 0: none
    int error = ECONNRESET;      // its error; 0: end of stream

    bool writes_fail = false;  // writes fail with `error`, reads still succeed

    std::size_t unacknowledged = 0;
    std::int64_t acknowledged_ms_ago = -1;
    bool stays_in_process = false;

    bool waits_readable = false;
    bool waits_writable = false;
    std::function<void()> on_readable;
    std::function<void()> on_writable;

    [[nodiscard]] bool has_failed() const { return fail_at != 0 && operations >= fail_at; }

    /// Performs the callbacks that are due, at most one of each kind. Returns whether there were any.
    bool turn() {
        bool any = false;
        const bool readable = !incoming.empty() || incoming_ends || has_failed();
        if (readable && on_readable && std::exchange(waits_readable, false)) {
            any = true;
            on_readable();
        }
        if ((room > 0 || has_failed()) && on_writable && std::exchange(waits_writable, false)) {
            any = true;
            on_writable();
        }
        return any;
    }

    /// Counts an operation. Returns ok unless it must fail or block.
    [[nodiscard]] IoStatus begin_operation() {
        ++operations;
        if (has_failed()) {
            return error == 0 ? IoStatus::end : IoStatus::error;
        }
        return blocks_every != 0 && operations % blocks_every == 0 ? IoStatus::would_block : IoStatus::ok;
    }
};

/// A stream in memory that behaves as scripted by its Wire.
///
/// Threads: one. Limits: none. Failure: as scripted.
class FaultyStream final : public Stream {
  public:
    explicit FaultyStream(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}
    ~FaultyStream() override {
        wire_->on_readable = nullptr;
        wire_->on_writable = nullptr;
    }

    void watch(std::function<void()> on_readable, std::function<void()> on_writable) override {
        wire_->on_readable = std::move(on_readable);
        wire_->on_writable = std::move(on_writable);
    }
    void wait_readable() override { wire_->waits_readable = true; }
    void wait_writable() override { wire_->waits_writable = true; }

    [[nodiscard]] StreamWrite write(std::span<const StreamPart> parts) override {
        const IoStatus status = wire_->begin_operation();
        if (status != IoStatus::ok) {
            return {status, 0, wire_->error};
        }
        if (wire_->writes_fail) {
            return {IoStatus::error, 0, wire_->error};
        }
        std::size_t left = std::min(wire_->write_bytes_max, wire_->room);
        std::size_t taken = 0;
        for (const StreamPart& part : parts) {
            const std::size_t bytes = std::min(left, part.bytes);
            wire_->written.append(reinterpret_cast<const char*>(part.data), bytes);
            left -= bytes;
            taken += bytes;
        }
        wire_->room -= wire_->room == Wire::no_limit ? 0 : taken;
        return {taken == 0 ? IoStatus::would_block : IoStatus::ok, taken, 0};
    }

    [[nodiscard]] StreamRead read(Input& input) override {
        const IoStatus status = wire_->begin_operation();
        if (status != IoStatus::ok) {
            return {status, 0, wire_->error};
        }
        if (wire_->incoming.empty()) {
            return {wire_->incoming_ends ? IoStatus::end : IoStatus::would_block, 0, 0};
        }
        const std::span<std::byte> room = input.room();
        const std::size_t bytes = std::min({room.size(), wire_->incoming.size(), next_piece()});
        std::memcpy(room.data(), wire_->incoming.data(), bytes);
        input.received(bytes);
        wire_->incoming.erase(0, bytes);
        return {IoStatus::ok, bytes, 0, wire_->reports_more && !wire_->incoming.empty()};
    }

    void end_writing() noexcept override { wire_->writing_ended = true; }
    [[nodiscard]] std::size_t unacknowledged_bytes() const noexcept override { return wire_->unacknowledged; }
    [[nodiscard]] std::int64_t acknowledged_ms_ago() const noexcept override { return wire_->acknowledged_ms_ago; }
    [[nodiscard]] std::string peer() const override { return "faulty"; }
    [[nodiscard]] std::string address() const override { return {}; }
    [[nodiscard]] bool stays_in_process() const noexcept override { return wire_->stays_in_process; }

  private:
    [[nodiscard]] std::size_t next_piece() {
        return wire_->read_pieces.empty() ? Wire::no_limit : wire_->read_pieces[piece_++ % wire_->read_pieces.size()];
    }

    const std::shared_ptr<Wire> wire_;
    std::size_t piece_ = 0;
};

}  // namespace telegate::test
