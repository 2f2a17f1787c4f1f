#include "command.hpp"
#include "system.hpp"
#include "transport/workload.hpp"

#include "core/message.hpp"
#include "core/monitor.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>

namespace telegate::perf {

namespace {

constexpr std::chrono::seconds connect_time_max{10};
constexpr std::uint64_t idle_turns_max = 10'000'000;  // without a message, before it counts as lost

// memcmp() of more than 32 bytes takes the same instructions at every address.
constexpr std::string_view sender_name = "perf_tool: the router that sends everything";
constexpr std::string_view receiver_name = "perf_tool: the router that receives everything";

struct MonitorOptions {
    std::string pattern = "pubsub";
    std::string transport = "tcp";
    std::size_t size = 64;
    std::uint64_t messages = 100'000;
    std::uint64_t batch = 64;
    std::size_t subscribers = 1;
    std::string monitor = "on";
};

class PublisherToSubscribers {
  public:
    PublisherToSubscribers(Reactor& reactor, const MonitorOptions& options, const MonitorHandler& monitor)
        : publisher_(reactor, {}), topic_(publisher_.intern("host/cpu.user")) {
        publisher_.set_monitor(monitor);
        const Endpoint endpoint = publisher_.bind(endpoint_over(transport_of(options.transport)));
        while (subscribers_.size() < options.subscribers) {
            Subscriber& subscriber = *subscribers_.emplace_back(std::make_unique<Subscriber>(reactor, SocketOptions()));
            subscriber.set_monitor(monitor);
            subscriber.subscribe("host/");
            subscriber.connect(endpoint);
        }
    }
    [[nodiscard]] bool ready() const { return publisher_.totals().subscriptions == subscribers_.size(); }
    void send(std::string_view payload) { publisher_.send(topic_, payload); }
    void flush() { publisher_.flush(); }
    [[nodiscard]] std::size_t receivers() const { return subscribers_.size(); }
    [[nodiscard]] Subscriber& receiver(std::size_t index) { return *subscribers_[index]; }

  private:
    Publisher publisher_;
    const TopicId topic_;
    std::vector<std::unique_ptr<Subscriber>> subscribers_;
};

class RouterToRouter {
  public:
    RouterToRouter(Reactor& reactor, const MonitorOptions& options, const MonitorHandler& monitor)
        : from_(reactor, named(sender_name)), to_(reactor, named(receiver_name)) {
        from_.set_monitor(monitor);
        to_.set_monitor(monitor);
        to_.connect(from_.bind(endpoint_over(transport_of(options.transport))));
    }
    [[nodiscard]] bool ready() const { return from_.peers().size() == 1 && to_.peers().size() == 1; }
    void send(std::string_view payload) {
        if (from_.send(receiver_name, {payload}) != SendStatus::sent) {
            throw std::runtime_error("cannot send a message to the router");
        }
    }
    void flush() { from_.flush(); }
    [[nodiscard]] static std::size_t receivers() { return 1; }
    [[nodiscard]] Router& receiver(std::size_t /*index*/) { return to_; }

  private:
    [[nodiscard]] static SocketOptions named(std::string_view identity) {
        SocketOptions options;
        options.identity = identity;
        return options;
    }

    Router from_;
    Router to_;
};

void check_sizes(const MessageBatch& batch, std::size_t size) {
    for (const Message message : batch) {
        if (message[message.size() - 1].size() != size) {
            throw std::runtime_error("a message has the wrong size");
        }
    }
}

struct Sent {
    std::uint64_t messages;
    std::size_t size;  // of each payload, in bytes
};

/// Polls the reactor and receives all sent messages. Like send_all(), it is a separate function for
/// tools/check_instructions.py: it includes the polls that detect readable sockets, reading, parsing, the batches and
/// the check of each message. In the same polls, an inproc sender reclaims memory, other receivers are notified, and
/// data that flush() could not write is written; there is none if a batch fits into the socket buffers.
template <class Socket>
[[gnu::noinline]] void receive_all(Reactor& reactor, Socket& socket, MessageBatch& batch, const Sent& sent) {
    std::uint64_t received = 0;
    for (std::uint64_t idle = 0; received < sent.messages; ++idle) {
        while (socket.receive(batch)) {
            check_sizes(batch, sent.size);
            received += batch.size();
            idle = 0;
        }
        if (idle == idle_turns_max) {
            throw std::runtime_error(std::to_string(sent.messages - received) + " messages were lost");
        }
        reactor.poll();
    }
    if (received != sent.messages) {
        throw std::runtime_error("more messages were received than sent");
    }
}

/// A separate function for tools/check_instructions.py.
template <class Link>
[[gnu::noinline]] void send_all(Link& link, std::string_view payload, std::uint64_t count) {
    for (std::uint64_t index = 0; index < count; ++index) {
        link.send(payload);
    }
}

template <class Link>
double run(const MonitorOptions& options) {
    std::uint64_t events = 0;
    MonitorHandler monitor;
    if (options.monitor == "on") {
        monitor = [&events](const MonitorEvent&) {
            ++events;
        };
    }
    Reactor reactor;
    Link link(reactor, options, monitor);
    const auto deadline = std::chrono::steady_clock::now() + connect_time_max;
    while (!link.ready()) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error("not connected within ten seconds");
        }
        reactor.run_for(std::chrono::milliseconds(10));
    }
    const std::string payload(options.size, 'p');
    MessageBatch batch;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t sent = 0; sent < options.messages;) {
        const auto count = std::min(options.batch, options.messages - sent);
        send_all(link, payload, count);
        link.flush();
        for (std::size_t index = 0; index < link.receivers(); ++index) {
            receive_all(reactor, link.receiver(index), batch, {count, options.size});
        }
        sent += count;
    }
    const double seconds = seconds_since(begin);
    if ((events != 0) != (options.monitor == "on")) {
        throw std::runtime_error("the monitor is not as requested: " + options.monitor);
    }
    return static_cast<double>(options.messages) / seconds;
}

Plan plan(const MonitorOptions& options, Report& report) {
    const std::string name = options.pattern + " over " + options.transport;
    const auto measure_once = options.pattern == "pubsub" ? run<PublisherToSubscribers> : run<RouterToRouter>;
    return {{"messages", {{name, [=, &report] {
                               report.add("messages per second", name, measure_once(options));
                           }}}}};
}

void add_options(CLI::App& app, MonitorOptions& chosen) {
    app.add_option("--pattern", chosen.pattern, "Publisher to Subscribers, or Router to Router")
        ->check(CLI::IsMember({"pubsub", "router"}));
    app.add_option("--transport", chosen.transport, "Transport")->check(CLI::IsMember({"tcp", "ipc", "inproc"}));
    app.add_option("--size", chosen.size, "Payload size in bytes")->check(CLI::Range(0, 1024 * 1024));
    app.add_option("--messages", chosen.messages, "Messages per run")->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--batch", chosen.batch, "Messages sent before they are received")->check(CLI::Range(1, 1'000));
    app.add_option("--subscribers", chosen.subscribers, "Subscribers of all messages")->check(CLI::Range(1, 64));
    app.add_option("--monitor", chosen.monitor, "Monitor of all sockets")->check(CLI::IsMember({"on", "off"}));
    app.callback([&chosen] {
        if (chosen.pattern != "pubsub" && chosen.subscribers != 1) {
            throw CLI::ValidationError("--subscribers", "only a publisher has subscribers: use --pattern pubsub");
        }
    });
}

}  // namespace

Planner describe_monitor_command(CLI::App& app) {
    return make_planner<MonitorOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
