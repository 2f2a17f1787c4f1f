#pragma once

#include "core/reactor.hpp"
#include "core/unique_fd.hpp"
#include "core/watch.hpp"
#include "transport/stream.hpp"

#include <memory>
#include <string>

namespace telegate::transport {

/// The name of the peer; see Stream::peer() and Stream::address().
struct PeerName {
    std::string text;
    std::string address;  // "" for a Unix socket, or if the peer is already gone
};

/// A connected non-blocking socket, tcp or ipc.
/// Threads: the reactor's thread. Limits: the kernel's buffers; parts_per_write_max parts in one write. Failure: as
/// Stream.
class SocketStream final : public Stream {
  public:
    SocketStream(Reactor& reactor, UniqueFd descriptor, PeerName name);

    [[nodiscard]] bool move_to(Reactor& reactor) noexcept override {
        reactor_ = &reactor;
        return true;
    }
    void watch(std::function<void()> on_readable, std::function<void()> on_writable) override;
    void wait_readable() override { watch_->wait_readable(); }
    void wait_writable() override { watch_->wait_writable(); }

    [[nodiscard]] StreamWrite write(std::span<const StreamPart> parts) override;
    [[nodiscard]] StreamRead read(Input& input) override;
    void end_writing() noexcept override;

    [[nodiscard]] std::size_t unacknowledged_bytes() const noexcept override;
    [[nodiscard]] std::int64_t acknowledged_ms_ago() const noexcept override;

    [[nodiscard]] std::string peer() const override { return name_.text; }
    [[nodiscard]] std::string address() const override { return name_.address; }
    [[nodiscard]] bool stays_in_process() const noexcept override { return false; }

  private:
    template <class Call>
    [[nodiscard]] StreamWrite write_with(const Call& call);

    /// Small enough for the stack; a batch is a few large parts. The kernel would accept 1,024.
    static constexpr std::size_t parts_per_write_max = 64;

    Reactor* reactor_;
    const UniqueFd descriptor_;
    const PeerName name_;
    std::unique_ptr<Watch> watch_;  // destroyed before the descriptor
};

/// Makes a stream from a new connection and sets its socket options. Options that cannot be set are left as they are.
using MakeStream = std::unique_ptr<Stream> (*)(Reactor& reactor, UniqueFd descriptor);

}  // namespace telegate::transport
