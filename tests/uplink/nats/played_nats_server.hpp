#pragma once

#include "support/raw_listener.hpp"

#include <poll.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace telegate::uplink {

/// A NATS server that a test plays, on its own thread, because a client waits while it connects. It accepts one
/// connection after the other, and knows only as much of the protocol as the tests need.
///
/// Threads: any. Limits: memory. Failure: the constructor throws if it cannot listen.
class PlayedNatsServer {
  public:
    struct Options {
        std::string greeting =
            "INFO {\"server_id\":\"N\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,"
            "\"max_payload\":1000}\r\n";
        std::string connected = "PONG\r\n";  // the reply to the first PING
        /// Replies to requests about streams; "": none.
        std::string names = R"({"total":1,"streams":["S"]})";
        std::string info = R"({"config":{"name":"S","duplicate_window":120000000000}})";
    };
    explicit PlayedNatsServer(Options options) : options_(std::move(options)), thread_([this] { run(); }) {}
    ~PlayedNatsServer() {
        is_over_ = true;
        thread_.join();
    }
    PlayedNatsServer(const PlayedNatsServer&) = delete;
    PlayedNatsServer& operator=(const PlayedNatsServer&) = delete;

    [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(listener_.endpoint().port); }
    /// Returns everything that was received.
    [[nodiscard]] std::string received() const {
        const std::lock_guard lock(mutex_);
        return received_;
    }
    [[nodiscard]] int connections() const { return connections_; }
    /// Returns the beginning of the subjects for responses on the newest connection.
    [[nodiscard]] std::string inbox() const {
        const std::string all = received();
        const std::size_t at = all.rfind("SUB _INBOX");
        return at == std::string::npos ? "" : all.substr(at + 4, all.find('*', at) - at - 4);
    }
    /// Sends to the newest connection.
    void send(const std::string& text) {
        const std::lock_guard lock(mutex_);
        to_send_ += text;
    }
    void respond(const std::string& reply, const std::string& payload) {
        send("MSG " + inbox() + reply + " 1 " + std::to_string(payload.size()) + "\r\n" + payload + "\r\n");
    }
    /// From now on, nothing is read.
    void stop_reading() { is_reading_ = false; }
    /// Ends the newest connection.
    void end_connection() { is_ended_ = true; }

  private:
    void run() {
        while (!is_over_) {
            if (auto peer = listener_.accept()) {
                ++connections_;
                is_ended_ = false;
                serve(*peer);
            }
            ::poll(nullptr, 0, 1);  // lets other threads run
        }
    }

    void serve(test::RawPeer& peer) {
        std::size_t handled = 0;
        peer.send(options_.greeting);
        while (!is_over_ && !is_ended_ && !peer.at_end()) {
            const std::size_t before = peer.received().size();
            const std::string& all = is_reading_ ? peer.read() : peer.received();
            std::string out;
            {
                const std::lock_guard lock(mutex_);
                received_ += all.substr(before);
                out = std::exchange(to_send_, {});
            }
            if (!out.empty()) {
                peer.send(out);
            }
            for (std::size_t end = all.find("\r\n", handled); end != std::string::npos;
                 end = all.find("\r\n", handled)) {
                handle(all.substr(handled, end - handled));
                handled = end + 2;
            }
            ::poll(nullptr, 0, 1);  // lets other threads run
        }
    }

    void handle(const std::string& line) {
        if (line == "PING") {
            send(options_.connected);
        } else if (line.starts_with("PUB $JS.API.STREAM.NAMES") && !options_.names.empty()) {
            respond("name", options_.names);
        } else if (line.starts_with("PUB $JS.API.STREAM.INFO.S ") && !options_.info.empty()) {
            respond("info", options_.info);
        }
    }

    const Options options_;
    test::RawListener listener_;
    mutable std::mutex mutex_;  // guards the next two
    std::string received_;
    std::string to_send_;
    std::atomic<int> connections_{0};
    std::atomic<bool> is_reading_{true};
    std::atomic<bool> is_ended_{false};
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

}  // namespace telegate::uplink
