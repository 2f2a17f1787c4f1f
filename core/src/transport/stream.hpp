#pragma once

#include "buffers/input.hpp"
#include "buffers/segment_log.hpp"
#include "core/client_shares.hpp"
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
    end,          // the peer sends nothing more
    error,        // the stream is unusable
};

/// A piece to write. With `segment`, the bytes stay unchanged as long as the segment is referenced; without, they are
/// valid only during the call.
struct StreamPart {  // no default values: each write has many of them, mostly unused
    const std::byte* data;
    std::size_t bytes;
    Segment* segment;
};

struct StreamWrite {
    // ok: `bytes` were accepted, at least one; if fewer than offered, call wait_writable()
    IoStatus status = IoStatus::ok;
    std::size_t bytes = 0;
    int error = 0;  // errno value, with IoStatus::error
};

struct StreamRead {
    IoStatus status = IoStatus::ok;
    std::size_t bytes = 0;  // added to the input
    int error = 0;
    bool more = false;  // more data is probably available, so reading again is better than waiting
};

/// One connection as a session sees it: bytes in order, never blocking. Implemented by SocketStream (tcp, ipc) and
/// InprocStream.
///
/// Threads: the thread of its reactor.
/// Limits: the kernel's buffers; inproc_parts_max pieces.
/// Failure: reported as statuses. Destruction closes the connection.
class Stream {
  public:
    virtual ~Stream() = default;

    /// Before watch(): moves the stream to another thread's reactor. Returns false if that is not possible.
    [[nodiscard]] virtual bool move_to(Reactor& /*reactor*/) noexcept { return false; }
    /// Sets the callbacks; called once, before the first wait. Throws std::system_error if the event loop cannot watch
    /// another descriptor. No callback runs after destruction, which may happen inside a callback.
    virtual void watch(std::function<void()> on_readable, std::function<void()> on_writable) = 0;
    /// Requests one call to on_readable when there is data, the end or an error. A second request has no effect.
    virtual void wait_readable() = 0;
    virtual void wait_writable() = 0;
    /// Returns whether a write() is worth trying before on_writable is called. Always false where a check needs a
    /// system call.
    [[nodiscard]] virtual bool is_writable() noexcept { return false; }

    [[nodiscard]] virtual StreamWrite write(std::span<const StreamPart> parts) = 0;
    /// Adds arrived data to `input`: one piece, as much as fits.
    [[nodiscard]] virtual StreamRead read(Input& input) = 0;
    /// Ends our side of the stream. The peer still receives all written data, then it reads the end.
    virtual void end_writing() noexcept = 0;

    /// Returns how many written bytes the peer's machine has not acknowledged yet; 0 if unknown. The peer is alive
    /// while the number of bytes written minus this one grows.
    [[nodiscard]] virtual std::size_t unacknowledged_bytes() const noexcept = 0;
    /// Returns the milliseconds since the peer's machine last acknowledged anything, even if only that its receive
    /// buffer is full; 0 while no acknowledgment is due, negative if unknown. Called only while data is pending or
    /// unacknowledged.
    [[nodiscard]] virtual std::int64_t acknowledged_ms_ago() const noexcept = 0;

    /// Returns the peer's name: "127.0.0.1:50312", "pid=712 uid=1000", or "inproc".
    [[nodiscard]] virtual std::string peer() const = 0;
    /// Returns the origin that the limit per address counts: the IP address; empty if there is no such limit.
    [[nodiscard]] virtual std::string address() const = 0;
    /// Returns the client that the peer counts as, see client_of(): an address, a network, or "uid=1000".
    [[nodiscard]] std::string client() const {
        const std::string text = address();
        const std::string name = text.empty() ? peer() : "";
        const std::size_t user = name.find("uid=");
        return text.empty() ? name.substr(user == std::string::npos ? 0 : user) : client_of(text);
    }
    /// Returns whether the data never leaves the process, so that CURVE would protect nothing.
    [[nodiscard]] virtual bool stays_in_process() const noexcept = 0;
};

}  // namespace telegate
