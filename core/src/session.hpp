#pragma once

#include "asio_types.hpp"
#include "backlog.hpp"
#include "core/publisher.hpp"
#include "subscription_set.hpp"
#include "transport/unique_fd.hpp"
#include "zmtp/handshake.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

class Session;

/// What all sessions of one publisher share, and how they report to it.
struct SessionContext {
    net::io_context& io;
    std::vector<std::byte> receive_buffer;  // used within one turn only
    std::chrono::milliseconds handshake_time_max;
    std::shared_ptr<std::size_t> subscriptions = std::make_shared<std::size_t>(0);  // of all sessions
    std::uint64_t subscriptions_refused = 0;
    std::function<void(Session&)> opened;
    std::function<void()> subscriptions_changed;
    /// The last call that a session makes.
    std::function<void(Session&, std::string_view why)> ended;
};

/// One subscriber: handshake, its subscriptions, its backlog and its socket.
///
/// Threads: the reactor's.
/// Limits:  control_bytes_max for answers it does not read; the backlog's own; budgets per turn in limits.hpp.
/// Failure: any error, violation or end of stream closes it, with a few words why; nothing else is affected.
class Session final : public std::enable_shared_from_this<Session> {
  public:
    enum class State : std::uint8_t { handshake, open, draining, closed };

    /// Where it came from.
    struct Arrival {
        UniqueFd descriptor;
        std::uint64_t id = 0;
        std::string endpoint;
        std::string peer;
    };

    /// Throws boost::system::system_error when the event loop cannot watch one more descriptor.
    Session(SessionContext& context, Arrival arrival);

    void start();
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// Whether the handshake was finished, so that it counts as a subscriber.
    [[nodiscard]] bool was_open() const noexcept { return !handshake_.has_value(); }
    [[nodiscard]] bool matches(std::string_view topic) const noexcept;

    /// One more message to send; flush() sends it. True when this is the first since the last flush().
    bool add(const Slice& message);
    /// Writes what the socket takes.
    void flush();
    void give_up_before(std::uint64_t log_position);
    /// Sends what is pending, then ends the stream and waits for the peer to do the same.
    void drain();
    void close(std::string_view why);

    [[nodiscard]] SubscriberStatus status() const;
    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    void set_index(std::size_t index) noexcept { index_ = index; }

  private:
    static constexpr std::size_t subscriptions_shown_max = 16;
    static constexpr std::size_t gather_max = 64;

    void wait_readable();
    void wait_writable();
    void on_readable();
    void receive(zmtp::Bytes input);
    void shake_hands(zmtp::Bytes& input);
    void on_frame(const zmtp::Frame& frame);
    void on_command(const zmtp::Frame& frame);
    void on_subscription(const zmtp::Subscription& subscription);
    bool send_once(std::size_t& budget);
    void sent(std::size_t bytes);
    void end_stream_when_drained();

    SessionContext& context_;
    Descriptor descriptor_;
    Timer deadline_;  // of the handshake
    const std::uint64_t id_;
    const std::string endpoint_;
    const std::string peer_;
    State state_ = State::handshake;
    std::size_t index_ = 0;  // in the publisher's list
    std::optional<zmtp::Handshake> handshake_;
    zmtp::FrameDecoder decoder_;
    const std::shared_ptr<std::size_t> subscriptions_total_;
    SubscriptionSet subscriptions_{*subscriptions_total_};
    std::vector<std::byte> control_;  // commands of ours that wait for a message boundary
    std::size_t control_sent_ = 0;
    Backlog backlog_;
    std::uint64_t matched_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t dropped_ = 0;
    bool dirty_ = false;  // added to since the last flush()
    bool waiting_writable_ = false;
    bool stream_ended_ = false;  // by us
};

}  // namespace telegate
