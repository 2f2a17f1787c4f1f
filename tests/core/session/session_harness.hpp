#pragma once

#include "session/session.hpp"
#include "support/faulty_stream.hpp"
#include "support/receiver_transcript.hpp"
#include "support/zmtp_text.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace telegate::test {

using Clock = std::chrono::steady_clock;

/// One session on a scripted stream, and everything that it reported.
///
/// Threads: one. Limits: none. Failure: none.
struct SessionHarness {
    explicit SessionHarness(zmtp::SocketType type = zmtp::SocketType::router, SocketOptions options_in = {})
        : options(std::move(options_in)),
          context{reactor, options, type,
                  SessionEvents{
                      .opened = [this](Session&) { ++opened; },
                      .readable = [this](Session&) { on_readable(); },
                      .command =
                          [this](Session&, const zmtp::Command& command) {
                              commands.push_back(std::string(command.name) + " " + std::string(as_text(command.data)));
                          },
                      .room = [this](Session&) { ++rooms; },
                      .ended =
                          [this](Session&, std::string_view reason) {
                              ++ended;
                              why = reason;
                          },
                  },
                  buffers} {}

    Session& make(bool keep_outbox = false) {
        wire = std::make_shared<Wire>();
        return make_on(wire, keep_outbox);
    }
    Session& make_on(const std::shared_ptr<Wire>& on, bool keep_outbox = false) {
        wire = on;
        Session::Arrival arrival;
        arrival.stream = std::make_unique<FaultyStream>(wire);
        arrival.id = 1;
        arrival.endpoint = "tcp://127.0.0.1:5556";
        arrival.outbox = outbox;
        arrival.keep_outbox = keep_outbox;
        session = std::make_unique<Session>(context, std::move(arrival));
        return *session;
    }
    /// Completes the handshake with a peer that uses NULL, and discards what was written for it.
    Session& make_open(std::string_view peer_type = "DEALER", bool keep_outbox = false, unsigned minor = 1) {
        make(keep_outbox).start();
        receive(greeting(minor) + ready(peer_type));
        wire->written.clear();
        return *session;
    }

    /// Runs everything that is due, until nothing is.
    void turn() {
        do {
            reactor.poll();
        } while (wire->turn());
    }
    /// Delivers `bytes` from the peer.
    void receive(std::string_view bytes) {
        wire->incoming += bytes;
        turn();
    }
    void append(std::string_view payload) {
        const std::array<Bytes, 1> frames = {as_bytes(payload)};
        outbox->append(frames);
    }
    void send(std::string_view payload) {
        append(payload);
        session->flush();
        turn();
    }
    void on_readable() {
        ++readable;
        if (takes) {
            receive();
        }
    }
    Session::ReceiveStatus receive() {
        batch.clear();
        const Session::ReceiveStatus status = session->receive(batch);
        append_messages(messages, batch);
        return status;
    }
    [[nodiscard]] bool adds_up() const {
        return outbox->matched() == outbox->sent() + outbox->dropped() + outbox->backlog().messages();
    }

    Reactor reactor;
    SocketOptions options;
    BufferPool buffers{16 * 1024};
    SegmentPool segments{64 * 1024};
    std::shared_ptr<Outbox> outbox = std::make_shared<Outbox>(segments);
    SessionContext context;
    std::shared_ptr<Wire> wire;
    MessageBatch batch;
    bool takes = true;  // as soon as it is notified

    int opened = 0;
    int readable = 0;
    int rooms = 0;
    int ended = 0;
    std::string why;
    std::string messages;  // as append_messages() writes them
    std::vector<std::string> commands;
    std::unique_ptr<Session> session;
};

}  // namespace telegate::test
