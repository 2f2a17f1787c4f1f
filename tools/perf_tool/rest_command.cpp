#include "command.hpp"
#include "rest/status_clients.hpp"
#include "status/status_json.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <regex>

namespace telegate::perf {

namespace {

constexpr double speed_goal = 0.9;

struct RestOptions {
    std::vector<std::size_t> connections{1, 8};
    double seconds = 2;
    bool own_client = false;
};

/// Clients that send a request as soon as they have the previous response.
struct RequestLoad {
    std::string address;
    std::size_t connections = 1;
    double seconds = 1;
};

struct LoadFigures {
    double requests_per_s = 0;
    double p50_us = 0;
    double p99_us = 0;
};

/// A cpp-httplib server with its own loop and default threads that returns the same body for every GET /status.
///
/// Threads: its own; otherwise one. Limits: those of the library; connections are kept open.
/// Failure: the constructor throws std::runtime_error if it cannot listen.
class BareServer {
  public:
    explicit BareServer(std::string body) {
        server_.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
        server_.set_tcp_nodelay(true);
        server_.Get("/status", [body = std::move(body)](const httplib::Request&, httplib::Response& response) {
            response.set_content(body, "application/json");
        });
        port_ = server_.bind_to_any_port("127.0.0.1");
        if (port_ <= 0) {
            throw std::runtime_error("the bare server cannot listen");
        }
        thread_ = std::thread([this] { server_.listen_after_bind(); });
    }
    ~BareServer() {
        server_.stop();
        thread_.join();
    }
    BareServer(const BareServer&) = delete;
    BareServer& operator=(const BareServer&) = delete;

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  private:
    httplib::Server server_;
    int port_ = 0;
    std::thread thread_;
};

/// Returns the output of a program.
std::string output_of(const std::string& command) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "re"), &::pclose);
    std::string text;
    std::array<char, 4'096> bytes{};
    for (std::size_t count = 1; pipe && count > 0;) {
        count = std::fread(bytes.data(), 1, bytes.size(), pipe.get());
        text.append(bytes.data(), count);
    }
    return text;
}

/// Returns the time after a word of wrk's output, such as "18.00us", "1.20ms" or "2.00s", in microseconds.
double time_after(const std::string& text, const std::string& word) {
    std::smatch match;
    if (!std::regex_search(text, match, std::regex(word + R"(\s+([\d.]+)(us|ms|s))"))) {
        throw std::runtime_error("the output of wrk lacks " + word + ": " + text);
    }
    const double number = std::stod(match[1]);
    return match[2] == "us" ? number : match[2] == "ms" ? number * 1e3 : number * 1e6;
}

/// wrk takes less CPU time from the server than a client in this process. It measures whole seconds.
LoadFigures load_by_wrk(const RequestLoad& load) {
    const long seconds = std::max(1L, std::lround(load.seconds));
    const std::string text = output_of("wrk --latency -t 1 -c " + std::to_string(load.connections) + " -d " +
                                       std::to_string(seconds) + "s http://" + load.address + "/status 2>&1");
    std::smatch match;
    if (text.find("Non-2xx") != std::string::npos || text.find("Socket errors") != std::string::npos ||
        !std::regex_search(text, match, std::regex(R"(Requests/sec:\s+([\d.]+))"))) {
        throw std::runtime_error("wrk: " + text);
    }
    return {std::stod(match[1]), time_after(text, "50%"), time_after(text, "99%")};
}

LoadFigures load_by_threads(const RequestLoad& load) {
    StatusClients clients(load.address, load.connections);
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(load.seconds));
    std::vector<double> times = clients.stop();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    return {static_cast<double>(times.size()) / time.count(), quantile(times, 0.5), quantile(times, 0.99)};
}

std::string words_of(std::size_t connections) {
    return std::to_string(connections) + (connections == 1 ? " client" : " clients");
}

void add(Report& report, const std::string& name, const LoadFigures& figures) {
    report.add(name + ", requests/s", figures.requests_per_s);
    report.add(name + ", p50 us", figures.p50_us);
    report.add(name + ", p99 us", figures.p99_us);
}

Report measure(const RestOptions& options, std::size_t runs) {
    const bool by_wrk = !options.own_client && output_of("command -v wrk").find("wrk") != std::string::npos;
    const auto load = by_wrk ? &load_by_wrk : &load_by_threads;
    // Both servers exist during the whole measurement.
    RestGateway rest;
    const std::string address = rest.gateway.rest_address();
    (void)load_by_threads({address, 1, 0.5});  // then every channel has a sample and /status its final size
    const std::size_t body_bytes = status_json(rest.gateway.snapshot().value()).size();
    const BareServer bare(std::string(body_bytes, 'x'));
    Report report{"rest", "requests per second, or microseconds"};
    report.ratios_heading = "ratio: gateway / bare, run by run";
    report.parameters = {{"client", by_wrk ? "wrk, one thread" : "a thread of this process per connection"},
                         {"body", std::to_string(body_bytes) + " bytes"}};
    for (std::size_t run = 0; run < runs; ++run) {
        for (const std::size_t connections : options.connections) {
            show_run(run, runs, words_of(connections));
            add(report, "gateway, " + words_of(connections), load({address, connections, options.seconds}));
            add(report, "bare, " + words_of(connections), load({bare.address(), connections, options.seconds}));
        }
    }
    for (const std::size_t connections : options.connections) {
        const std::string name = words_of(connections);
        report.add_ratio(name + ", requests/s", "gateway, " + name + ", requests/s", "bare, " + name + ", requests/s",
                         Goal::at_least(speed_goal));
        report.add_ratio(name + ", p50", "gateway, " + name + ", p50 us", "bare, " + name + ", p50 us");
    }
    return report;
}

void add_options(CLI::App& app, RestOptions& chosen) {
    add_list(app, "--connections", chosen.connections, "Concurrent clients, separated by commas")
        ->check(CLI::Range(1, 64));
    app.add_option("--seconds", chosen.seconds, "Seconds per server and run; wrk takes whole seconds")
        ->check(CLI::Range(0.05, 3'600.0));
    app.add_flag("--own-client", chosen.own_client, "Do not use wrk");
}

}  // namespace

Command::Action describe_rest_command(CLI::App& app) {
    return make_action<RestOptions>(app, add_options, measure);
}

}  // namespace telegate::perf
