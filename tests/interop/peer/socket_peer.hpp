#pragma once

#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "interop/peer/options.hpp"
#include "interop/peer/report.hpp"
#include "interop/peer/socket_calls.hpp"
#include "interop/peer/traffic.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace telegate::test {

/// Sockets of one kind, controlled by a test: they send numbered messages and check received ones or send them back.
///
/// Threads: the reactor's.
/// Limits: replies that cannot be sent wait, one batch per socket; nothing is received meanwhile.
/// Failure: throws std::invalid_argument for operations that this kind of socket does not support, and exceptions of
/// the sockets.
template <class Socket>
class SocketPeer {
  public:
    SocketPeer(Reactor& reactor, const PeerOptions& options)
        : reactor_(reactor),
          options_(options),
          pause_over_(reactor, [this] { send_some(); }),
          tick_(reactor, [this] { on_tick(); }) {
        for (std::size_t index = 0; index < options_.sockets; ++index) {
            open_one();
        }
    }

    /// Sends `count` more messages, as fast as the receivers accept them.
    void send(std::uint64_t count) {
        to_send_ += count;
        send_some();
    }
    /// Sends this many messages per second from now on; 0 stops.
    void set_rate(std::uint64_t per_second) {
        rate_ = per_second;
        rate_since_ = std::chrono::steady_clock::now();
        tick_.set(tick_time);
    }
    void set_paused(bool paused) {
        paused_ = paused;
        for (const auto& seat : seats_) {
            receive_all(*seat);
        }
    }
    void set_subscribed(std::string_view prefix, bool wanted) {
        for (const auto& seat : seats_) {
            subscribe(*seat->socket, prefix, wanted);
        }
    }

    [[nodiscard]] PeerReport report() const {
        PeerReport report;
        for (const auto& seat : seats_) {
            const auto endpoints = seat->socket->endpoints();
            report.endpoints.insert(report.endpoints.end(), endpoints.begin(), endpoints.end());
            add(seat->socket->totals(), report.totals);
            auto peers = peers_of(*seat->socket);
            std::move(peers.begin(), peers.end(), std::back_inserter(report.peers));
            add(seat->check.counts(), report.received);
        }
        report.numbered = numbered_;
        report.to_send = to_send_;
        report.not_sent_back = not_sent_back_;
        report.events = events_;
        report.details = details_;
        return report;
    }

    /// Calls `done` when all sockets are closed.
    void close_all(std::function<void()> done) {
        rate_ = 0;
        to_send_ = 0;
        const auto left = std::make_shared<std::size_t>(seats_.size());
        for (const auto& seat : seats_) {
            close(*seat->socket, reactor_, [left, done] {
                if (--*left == 0) {
                    done();
                }
            });
        }
    }

  private:
    static constexpr std::chrono::milliseconds tick_time{10};
    static constexpr std::chrono::milliseconds no_room_time{1};
    static constexpr std::size_t bytes_per_turn = 1024 * 1024;
    static constexpr std::size_t messages_per_turn = 256;

    struct Reply {
        std::string peer;
        std::vector<std::string> frames;
    };
    struct Seat {
        std::unique_ptr<Socket> socket;
        TrafficCheck check;
        std::deque<Reply> replies;
    };

    void open_one() {
        seats_.push_back(std::make_unique<Seat>());
        Seat& seat = *seats_.back();
        seat.socket = std::make_unique<Socket>(reactor_, options_.socket);
        seat.socket->set_monitor([this](const MonitorEvent& event) {
            ++events_[std::string(to_string(event.kind))];
            details_[std::string(to_string(event.kind))] = event.detail;
        });
        on_readable(*seat.socket, [this, &seat] { receive_all(seat); });
        on_writable(*seat.socket, [this, &seat] {
            send_replies(seat);
            send_some();
        });
        for (const std::string& prefix : options_.subscriptions) {
            subscribe(*seat.socket, prefix, true);
        }
        for (const Endpoint& endpoint : options_.bind) {
            seat.socket->bind(endpoint);
        }
        for (const Endpoint& endpoint : options_.connect) {
            connect(*seat.socket, endpoint);
        }
    }
    void connect(Socket& socket, const Endpoint& endpoint) {
        if constexpr (std::is_same_v<Socket, Router>) {
            socket.connect(endpoint, options_.alias);
        } else {
            socket.connect(endpoint);
        }
    }

    void send_some() {
        Socket& socket = *seats_.front()->socket;
        const std::size_t count = std::min(messages_per_turn, 1 + bytes_per_turn / options_.payload_bytes);
        for (std::size_t index = 0; index < count && to_send_ > 0; ++index) {
            if (index == 0 && !has_room(socket, options_)) {
                pause_over_.set(no_room_time);
                return;
            }
            if (send_frames(socket, options_, next_message()) != SendStatus::sent) {
                return;  // on_writable will be called
            }
            ++numbered_;
            --to_send_;
        }
        if (to_send_ > 0) {
            pause_over_.set(std::chrono::milliseconds(0));
        }
    }
    [[nodiscard]] Frames next_message() {
        make_payload(numbered_ + 1, options_.payload_bytes, payload_);
        message_.clear();
        if (options_.delimiter) {
            message_.emplace_back();
        }
        message_.resize(message_.size() + options_.frames, as_bytes(payload_));
        return message_;
    }
    void on_tick() {
        if (rate_ == 0) {
            return;
        }
        const auto now = std::chrono::steady_clock::now();
        const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now - rate_since_);
        const std::uint64_t due = rate_ * static_cast<std::uint64_t>(passed.count()) / 1'000'000;
        if (due > 0) {
            rate_since_ = now;
            send(due);
        }
        tick_.set(tick_time);
    }

    void receive_all(Seat& seat) {
        MessageBatch batch;
        while (!paused_ && seat.replies.empty() && receive(*seat.socket, batch)) {
            for (const Message message : batch) {
                seat.check.add(stream_of(*seat.socket, batch, message), message);
                if (options_.echo) {
                    send_back(seat, batch.peer(), message);
                }
            }
        }
    }
    void send_back(Seat& seat, std::string_view peer, const Message& message) {
        const std::vector<Bytes> frames(message.begin(), message.end());
        const SendStatus status = seat.replies.empty() ? reply(*seat.socket, peer, frames) : SendStatus::full;
        if (status != SendStatus::full || options_.lossy) {
            not_sent_back_ += status == SendStatus::sent ? 0 : 1;
            return;
        }
        Reply& kept = seat.replies.emplace_back();
        kept.peer = peer;
        for (const Bytes frame : frames) {
            kept.frames.emplace_back(as_text(frame));
        }
    }
    void send_replies(Seat& seat) {
        while (!seat.replies.empty()) {
            const Reply& kept = seat.replies.front();
            std::vector<Bytes> frames;
            for (const std::string& frame : kept.frames) {
                frames.push_back(as_bytes(frame));
            }
            const SendStatus status = reply(*seat.socket, kept.peer, frames);
            if (status == SendStatus::full) {
                return;
            }
            not_sent_back_ += status == SendStatus::sent ? 0 : 1;
            seat.replies.pop_front();
        }
        receive_all(seat);
    }

    static void add(const PublisherTotals& totals, PublisherTotals& sum) {
        add_totals(sum, totals);
        sum.messages += totals.messages;
        sum.subscriptions += totals.subscriptions;
        sum.subscriptions_refused += totals.subscriptions_refused;
    }
    static void add(const SocketTotals& totals, PublisherTotals& sum) { add_totals(sum, totals); }
    static void add(const TrafficCounts& counts, TrafficCounts& sum) { add_counts(sum, counts); }

    Reactor& reactor_;
    const PeerOptions options_;
    Alarm pause_over_;
    Alarm tick_;
    std::map<std::string, std::uint64_t> events_;
    std::map<std::string, std::string> details_;
    std::uint64_t numbered_ = 0;
    std::uint64_t to_send_ = 0;
    std::uint64_t not_sent_back_ = 0;
    std::uint64_t rate_ = 0;
    std::chrono::steady_clock::time_point rate_since_;
    bool paused_ = false;
    std::string payload_;
    std::vector<Bytes> message_;
    // last member: the sockets are destroyed first and make no more callbacks
    std::vector<std::unique_ptr<Seat>> seats_;
};

}  // namespace telegate::test
