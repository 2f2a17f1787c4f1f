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

/// How the sessions of one socket report to it. Called from within the session's turns; the session stays alive during
/// the call, whatever the call does.
struct SessionEvents {
    std::function<void(Session&)> opened;    // the handshake is done: peer() is known, take() and outbox() are usable
    std::function<void(Session&)> readable;  // something arrived: call take() now or later
    /// A command that is not the session's own business (SUBSCRIBE, CANCEL); called from within take().
    std::function<void(Session&, const zmtp::Command&)> command;
    std::function<void(Session&)> room;  // the outbox was over half its limit, or full, and is not any more
    /// The last call that a session makes. `why`: a few words.
    std::function<void(Session&, std::string_view why)> ended;
};

/// What all sessions of one socket share.
struct SessionContext {
    Reactor& reactor;
    const SocketOptions& options;
    zmtp::SocketType socket_type;
    SessionEvents events;
    BufferPool& buffers;
    Session* last_taken = nullptr;  // whose receive buffer the last batch lies in; the session's own business
    bool is_held = false;           // the socket cannot take more now, see PeerTable::set_held()
};

/// One peer: the life of its connection, from the handshake over heartbeats to the reason why it ended. What comes is
/// the reader's business, what goes the writer's.
///
/// Threads: the reactor's.
/// Limits:  see limits.hpp: one receive buffer, control_bytes_max, the outbox's own; budgets per turn.
/// Failure: any error, violation, silence or end of stream closes it, with a few words why; nothing else is affected.
class Session {
  public:
    enum class State : std::uint8_t { handshake, open, draining, closed };

    /// Where it came from.
    struct Arrival {
        std::unique_ptr<Stream> stream;
        std::uint64_t id = 0;
        std::string endpoint;            // of ours
        std::string alias;               // identity to know it by instead of its own; empty for none
        std::shared_ptr<Outbox> outbox;  // never null; may hold messages from before
        bool initiator = false;          // we connected
        bool keep_outbox = false;        // another connection will go on with what close() leaves in it
        std::shared_ptr<const Security> security = nullptr;  // of its endpoint; null: the socket's
    };
    /// Why it was closed, where that is counted.
    enum class Ending : std::uint8_t { other, violation, silence };

    /// Throws std::system_error when the event loop cannot watch one more descriptor.
    Session(SessionContext& context, Arrival arrival);
    ~Session();

    /// Sends the greeting and begins to read.
    void start();

    [[nodiscard]] std::uint64_t id() const noexcept { return origin_.id; }
    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] bool initiator() const noexcept { return origin_.initiator; }
    [[nodiscard]] bool stays_in_process() const noexcept { return stream_->stays_in_process(); }
    [[nodiscard]] const std::string& endpoint() const noexcept { return origin_.endpoint; }
    [[nodiscard]] const std::string& peer_text() const noexcept { return origin_.peer; }
    [[nodiscard]] const std::string& address() const noexcept { return origin_.address; }
    /// Whether the handshake was finished.
    [[nodiscard]] bool was_open() const noexcept { return !greeting_.has_value(); }
    /// False when it was lost in the middle of a message, and that message was all there was since the handshake.
    [[nodiscard]] bool was_of_use() const noexcept { return writer_.was_of_use() || reader_.has_heard(); }
    /// After close().
    [[nodiscard]] Ending ending() const noexcept { return ending_; }
    [[nodiscard]] const zmtp::PeerInfo& peer() const noexcept { return peer_; }
    /// What Router knows it by; set by Router when the peer told none.
    [[nodiscard]] const std::string& identity() const noexcept { return identity_; }
    void set_identity(std::string identity) { identity_ = std::move(identity); }
    [[nodiscard]] const std::shared_ptr<Outbox>& outbox() const noexcept { return outbox_; }

    enum class TakeStatus : std::uint8_t {
        idle,  // nothing is left, as far as is known; readable comes again by itself
        more,  // the turn's budget is used up; readable comes again in the next turn
    };
    /// Adds whole messages that have arrived to `batch`, reading from the stream as far as one turn's budget goes. What
    /// the batch shows lasts until the next take() of any session of the socket, or turn of the reactor. Stops after
    /// one receive buffer when it has got something. May end the session.
    TakeStatus take(MessageBatch& batch);

    /// Somebody sees to it that flush() comes.
    void mark_dirty() noexcept { writer_.mark_dirty(); }
    [[nodiscard]] bool is_dirty() const noexcept { return writer_.is_dirty(); }
    /// Writes what the stream takes.
    void flush();
    /// Sends what is pending, then ends the stream and waits for the peer to do the same, for drained_time_max after
    /// its machine has received everything.
    void drain();
    void close(std::string_view why);
    /// Gives up what waits, in the middle of a message too, and ends the stream; calls nobody. close() is to follow.
    void cut_off() noexcept;
    /// Another connection takes its place: gives up what waits and ends the stream, but take() still gives what comes,
    /// until the peer's end of the stream or retiring_time_max. A second call closes. Either way `why` is told.
    void retire(std::string_view why);
    /// While another one goes before it nothing is taken from it, and its time to be read does not run.
    void set_held(bool held) noexcept;
    [[nodiscard]] bool is_retiring() const noexcept { return state_ == State::open && retirement_.has_value(); }
    /// Whether nothing is left of what had arrived when it was retired. Always once closed; never before retire().
    [[nodiscard]] bool is_caught_up() const noexcept;

    /// Checks the deadlines: handshake, heartbeat, the peer's TTL, the end of a drain. Called every few hundred
    /// milliseconds.
    void tick(std::chrono::steady_clock::time_point now);

    /// Without subscriptions.
    [[nodiscard]] PeerStatus status() const;
    [[nodiscard]] std::uint64_t received() const noexcept { return reader_.received(); }  // messages
    [[nodiscard]] std::uint64_t bytes_sent() const noexcept { return writer_.bytes_written(); }
    [[nodiscard]] std::uint64_t bytes_received() const noexcept { return reader_.bytes_received(); }
    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    void set_index(std::size_t index) noexcept { index_ = index; }

  private:
    struct Origin {
        std::uint64_t id;
        std::string endpoint;  // of ours
        std::string peer;      // as Stream::peer() has it
        std::string address;   // as Stream::address() has it
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
        bool overdue = false;  // the end has come, but the owner has a last chance to take
    };
    using Time = std::chrono::steady_clock::time_point;

    void guard(void (Session::*call)());
    void greet();
    void shake_hands();
    void open();

    void on_readable();
    void read_handshake();
    void discard_input();
    void on_unread(SessionReader::Outcome outcome);
    void tell_readable();
    TakeStatus fill(MessageBatch& batch);
    TakeStatus give_ahead(MessageBatch& batch);
    void look_ahead();
    void on_command(Bytes body);
    void on_ping(Bytes data);

    void on_writable();
    void on_written(SessionWriter::Written written);
    void tell_room();

    void tick_retired(Time now);
    void judge_quiet_peer(Time now);
    void send_ping(Time now);
    void close_as(Ending ending, std::string_view why);
    void close_by_error(int error);
    void close_unread(std::string_view why);
    [[nodiscard]] std::string why_failed(int error) const;
    [[nodiscard]] std::string_view why_ended() const noexcept;
    [[nodiscard]] std::chrono::milliseconds retiring_time() const noexcept;
    [[nodiscard]] std::size_t backlog_bytes_max() const noexcept;

    SessionContext& context_;
    const std::unique_ptr<Stream> stream_;
    const Origin origin_;
    const std::shared_ptr<Outbox> outbox_;
    State state_ = State::handshake;
    Ending ending_ = Ending::other;
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
