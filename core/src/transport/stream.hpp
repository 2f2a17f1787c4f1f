#pragma once

#include "buffers/input.hpp"
#include "buffers/segment_log.hpp"
#include "core/reactor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace telegate {

enum class IoStatus : std::uint8_t {
    ok,
    would_block,  // nothing was done; wait, then try again
    end,          // the peer writes nothing more
    error,        // the stream is dead
};

/// A piece to write. With `segment`, the bytes stay as they are for as long as the segment is referred to; without,
/// they last during the call only.
struct StreamPart {  // without values of its own: there are many in each write, mostly unused
    const std::byte* data;
    std::size_t bytes;
    Segment* segment;
};

struct StreamWrite {
    IoStatus status = IoStatus::ok;  // ok: `bytes` were taken, at least one; fewer than offered means wait_writable()
    std::size_t bytes = 0;
    int error = 0;  // errno value, with IoStatus::error
};

struct StreamRead {
    IoStatus status = IoStatus::ok;
    std::size_t bytes = 0;  // that input has more than before
    int error = 0;
    bool more = false;  // there is probably something to read still, so that asking is better than waiting
};

/// One connection as a session sees it: bytes in order, never waiting. Real: SocketStream (tcp, ipc), InprocStream.
///
/// Threads: the reactor's that it was made for.
/// Limits:  the kernel's buffers; inproc_parts_max pieces.
/// Failure: statuses. Destruction closes.
class Stream {
  public:
    virtual ~Stream() = default;

    /// Before watch(): another thread's reactor is to be its own. False when that cannot be.
    [[nodiscard]] virtual bool move_to(Reactor& /*reactor*/) noexcept { return false; }
    /// Once, before the first wait. Throws std::system_error when the event loop can watch no more. No call comes after
    /// destruction, which may happen inside a call.
    virtual void watch(std::function<void()> on_readable, std::function<void()> on_writable) = 0;
    /// One call to on_readable when there is something to read, or an end or error. Asking twice is asking once.
    virtual void wait_readable() = 0;
    virtual void wait_writable() = 0;
    /// Whether a write() is worth a try before on_writable has come; only where looking costs no system call.
    [[nodiscard]] virtual bool is_writable() noexcept { return false; }

    [[nodiscard]] virtual StreamWrite write(std::span<const StreamPart> parts) = 0;
    /// Adds what has arrived to `input`: one piece, as much as there is room for.
    [[nodiscard]] virtual StreamRead read(Input& input) = 0;
    /// Nothing more will be written; what was written still arrives, then the peer reads the end.
    virtual void end_writing() noexcept = 0;

    /// Written bytes that the peer's machine has not acknowledged yet; 0 where that is not known. The peer is alive
    /// while the number of bytes written less this one grows.
    [[nodiscard]] virtual std::size_t unacknowledged_bytes() const noexcept = 0;
    /// Milliseconds since the peer's machine last acknowledged anything, were it only that it has no room; 0 while it
    /// owes no answer, negative where that is not known. Only asked while something waits to be taken.
    [[nodiscard]] virtual std::int64_t acknowledged_ms_ago() const noexcept = 0;

    /// "127.0.0.1:50312", "pid=712 uid=1000", or "inproc".
    [[nodiscard]] virtual std::string peer() const = 0;
    /// What counts as one origin for the limit per address: the IP address; empty where there is no such limit.
    [[nodiscard]] virtual std::string address() const = 0;
    /// Whether it never leaves the process, so that CURVE would guard nothing.
    [[nodiscard]] virtual bool stays_in_process() const noexcept = 0;
};

}  // namespace telegate
