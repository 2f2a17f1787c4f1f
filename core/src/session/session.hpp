#pragma once

#include "core/message.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"
#include "core/watch.hpp"
#include "session/heartbeat.hpp"
#include "session/outbox.hpp"
#include "session/session_reader.hpp"
#include "session/session_writer.hpp"
#include "transport/stream.hpp"
#include "zmtp/handshake.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

class Session;

/// A handler that does nothing.
inline constexpr auto ignored = [](auto&&...) {
};

/// The calls of one socket's sessions to the socket. Made from within the session's own callbacks; the session stays
/// alive during a call, whatever the call does.
struct SessionEvents {
    /// The handshake is done: peer(), receive() and outbox() are usable.
    std::function<void(Session&)> opened = ignored;
    /// Data has arrived: call receive() now or later.
    std::function<void(Session&)> readable = ignored;
    /// A command that the session does not handle itself (SUBSCRIBE, CANCEL); called from within receive().
    std::function<void(Session&, const zmtp::Command&)> command = ignored;
    /// The outbox was over half its limit, or full, and no longer is. May be empty.
    std::function<void(Session&)> room = {};
    /// The last call that a session makes. `why`: the reason in a few words.
    std::function<void(Session&, std::string_view why)> ended = ignored;
};

/// The state that all sessions of one socket share.
struct SessionContext {
    Reactor& reactor;
    const SocketOptions& options;
    zmtp::SocketType socket_type;
    SessionEvents events;
    BufferPool& buffers;
    Session* last_received = nullptr;  // session whose receive buffer holds the last batch; used by sessions only
    bool is_held = false;              // the socket cannot take more data now, see PeerTable::set_held()
};

/// One peer's connection, from the handshake through heartbeats to the reason why it ended. SessionReader handles
/// incoming data, SessionWriter outgoing data.
///
/// Threads: the reactor's thread.
/// Limits: see limits.hpp: one receive buffer, control_bytes_max, those of the outbox; budgets per event-loop
/// iteration.
/// Failure: any error, violation, heartbeat timeout or end of stream closes it, with a short reason; nothing else is
/// affected.
class Session {
  public:
    enum class State : std::uint8_t { handshake, open, draining, closed };

    /// A new connection and its origin.
    struct Arrival {
        std::unique_ptr<Stream> stream;
        std::uint64_t id = 0;
        std::string endpoint;            // our endpoint
        std::string alias;               // identity to use instead of the peer's own; empty for none
        std::shared_ptr<Outbox> outbox;  // never null; may hold messages from an earlier connection
        bool initiator = false;          // we connected
        bool keep_outbox = false;        // another connection will send the messages that close() leaves in it
        std::shared_ptr<const Security> security = nullptr;  // security of its endpoint; null: the socket's
    };

    /// Throws std::system_error if the event loop cannot watch another descriptor.
    Session(SessionContext& context, Arrival arrival);
    ~Session();

    /// Sends the greeting and starts reading.
    void start();

    [[nodiscard]] std::uint64_t id() const noexcept { return origin_.id; }
    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] bool initiator() const noexcept { return origin_.initiator; }
    [[nodiscard]] bool stays_in_process() const noexcept { return stream_->stays_in_process(); }
    [[nodiscard]] const std::string& endpoint() const noexcept { return origin_.endpoint; }
    [[nodiscard]] const std::string& peer_text() const noexcept { return origin_.peer; }
    /// Returns the client that the peer counts as, see Stream::client().
    [[nodiscard]] const std::string& client() const noexcept { return origin_.client; }
    /// Returns whether the handshake was completed.
    [[nodiscard]] bool was_open() const noexcept { return !greeting_.has_value(); }
    /// Returns false if the connection was lost in the middle of a message and nothing else was transferred since the
    /// handshake.
    [[nodiscard]] bool was_of_use() const noexcept { return writer_.was_of_use() || reader_.has_heard(); }
    /// Returns why it was closed; valid after close().
    [[nodiscard]] PeerEnding ending() const noexcept { return ending_; }
    [[nodiscard]] const zmtp::PeerInfo& peer() const noexcept { return peer_; }
    /// Returns the identity that Router uses for it; Router sets one if the peer sent none.
    [[nodiscard]] const std::string& identity() const noexcept { return identity_; }
    void set_identity(std::string identity) { identity_ = std::move(identity); }
    [[nodiscard]] const std::shared_ptr<Outbox>& outbox() const noexcept { return outbox_; }

    enum class ReceiveStatus : std::uint8_t {
        idle,  // no more data is available, as far as is known; `readable` is called again
        more,  // the iteration's budget is used up; `readable` is called again in the next iteration
    };
    /// Adds whole messages that have arrived to `batch`, reading from the stream within the budget of one event-loop
    /// iteration. The batch is valid until the next receive() of any session of the socket or the next iteration. Stops
    /// after one receive buffer if it has added messages. May end the session.
    ReceiveStatus receive(MessageBatch& batch);

    /// Records that a flush() is scheduled.
    void mark_dirty() noexcept { writer_.mark_dirty(); }
    [[nodiscard]] bool is_dirty() const noexcept { return writer_.is_dirty(); }
    /// Writes as much as the stream accepts.
    void flush();
    /// Sends pending data, then ends the stream and waits for the peer to end its side, for at most drained_time_max
    /// after the peer's machine has received everything.
    void drain();
    void close(std::string_view why);
    /// Drops pending data, even in the middle of a message, and ends the stream without calling any callback. close()
    /// must follow.
    void cut_off() noexcept;
    /// Starts handing over to another connection: drops pending data and ends the stream, but receive() still returns
    /// incoming data until the peer ends the stream or retiring_time_max has passed. A second call closes it. `why` is
    /// reported in either case.
    void retire(std::string_view why);
    /// Holds or releases it. While it is held because another connection goes first, no data is taken from it and its
    /// time for being read does not run.
    void set_held(bool held) noexcept;
    [[nodiscard]] bool is_retiring() const noexcept { return state_ == State::open && retirement_.has_value(); }
    /// Returns whether everything that had arrived before retire() has been read. Always true once closed; never true
    /// before retire().
    [[nodiscard]] bool is_caught_up() const noexcept;

    /// Checks the deadlines: handshake, heartbeat, the peer's TTL, the end of a drain. Called every few hundred
    /// milliseconds.
    void tick(std::chrono::steady_clock::time_point now);

    /// Returns its status, without subscriptions.
    [[nodiscard]] PeerStatus status() const;
    [[nodiscard]] std::uint64_t received() const noexcept { return reader_.received(); }  // messages
    [[nodiscard]] std::uint64_t bytes_sent() const noexcept { return writer_.bytes_written(); }
    [[nodiscard]] std::uint64_t bytes_received() const noexcept { return reader_.bytes_received(); }
    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    void set_index(std::size_t index) noexcept { index_ = index; }

  private:
    struct Origin {
        std::uint64_t id;
        std::string endpoint;  // our endpoint
        std::string peer;      // from Stream::peer()
        std::string client;    // from Stream::client()
        bool initiator;
        bool keep_outbox;
    };
    struct Greeting {
        explicit Greeting(zmtp::HandshakeOptions options) : handshake(std::move(options)) {}

        zmtp::Handshake handshake;
        const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    };
    struct Retirement {
        std::string why;
        std::chrono::steady_clock::time_point end;
        bool caught_up = false;
        bool overdue = false;  // the deadline has passed, but the owner has one last chance to receive
    };
    struct End {
        PeerEnding ending;
        std::string_view why;
    };
    static constexpr int end_of_stream = -1;  // in place of an errno value
    using Time = std::chrono::steady_clock::time_point;

    void shake_hands();
    void open();

    void on_readable();
    void read_handshake();
    void discard_input();
    void on_unread(SessionReader::Outcome outcome);
    void notify_readable();
    ReceiveStatus fill(MessageBatch& batch);
    ReceiveStatus receive_ahead(MessageBatch& batch);
    void read_ahead();
    void on_command(Bytes body);
    void on_ping(Bytes data);

    void on_writable();
    void on_written(Sender::Status status);
    void notify_room();

    void tick_retired(Time now);
    void check_quiet_peer(Time now);
    void send_ping(Time now);
    void close_as(PeerEnding ending, std::string_view why);
    void close_ended(int error);
    void close_unread(PeerEnding ending, std::string_view why);
    [[nodiscard]] End end_by(int error, std::string& message) const;
    [[nodiscard]] std::chrono::milliseconds retiring_time() const noexcept;
    [[nodiscard]] std::size_t backlog_bytes_max() const noexcept;

    SessionContext& context_;
    const std::unique_ptr<Stream> stream_;
    const Origin origin_;
    const std::shared_ptr<Outbox> outbox_;
    State state_ = State::handshake;
    PeerEnding ending_ = PeerEnding::other;
    std::size_t index_ = 0;  // in the socket's list
    std::string identity_;
    zmtp::PeerInfo peer_;
    std::optional<Greeting> greeting_;  // until the handshake is done
    std::unique_ptr<zmtp::CurveCipher> cipher_;
    Heartbeat heartbeat_;
    std::optional<Retirement> retirement_;
    bool held_ = false;
    SessionReader reader_;
    Later readable_later_;
    SessionWriter writer_;
    Later room_later_;
};

}  // namespace telegate
