#include "request_load.hpp"

#include "core/unique_fd.hpp"
#include "statistics.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace telegate::perf {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// What a program writes, all of it.
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

/// "18.00us", "1.20ms" or "2.00s" after a word, in microseconds.
double time_after(const std::string& text, const std::string& word) {
    std::smatch match;
    if (!std::regex_search(text, match, std::regex(word + R"(\s+([\d.]+)(us|ms|s))"))) {
        throw std::runtime_error("wrk does not say " + word + ": " + text);
    }
    const double number = std::stod(match[1]);
    return match[2] == "us" ? number : match[2] == "ms" ? number * 1e3 : number * 1e6;
}

UniqueFd connect_to(const std::string& address) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    const void* const name = &peer;
    if (::connect(socket.get(), static_cast<const sockaddr*>(name), sizeof peer) != 0) {
        throw std::runtime_error("cannot connect to " + address);
    }
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return socket;
}

/// Reads one answer. Whether the connection may be used again. Throws when it is not a 200 that is whole.
bool read_answer(int socket, std::string& in) {
    std::array<char, 65'536> bytes;
    std::size_t length = std::string::npos;
    in.clear();
    for (std::size_t head = std::string::npos; in.size() < length;) {
        const ssize_t received = ::recv(socket, bytes.data(), bytes.size(), 0);
        if (received <= 0) {
            throw std::runtime_error("the server closed in the middle of an answer");
        }
        in.append(bytes.data(), static_cast<std::size_t>(received));
        head = head == std::string::npos ? in.find("\r\n\r\n") : head;
        if (head != std::string::npos && length == std::string::npos) {
            const std::size_t field = in.find("Content-Length: ");
            if (!in.starts_with("HTTP/1.1 200 ") || field > head) {
                throw std::runtime_error("GET /status: " + in.substr(0, 100));
            }
            length = head + 4 + std::stoul(in.substr(field + std::string_view("Content-Length: ").size()));
        }
    }
    return in.find("Connection: close\r\n") > in.find("\r\n\r\n");
}

std::vector<double> ask(const RequestLoad& load, SteadyClock::time_point until) {
    std::vector<double> times;
    std::string in;
    const std::string request = "GET " + load.path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    UniqueFd socket = connect_to(load.address);
    for (auto begin = SteadyClock::now(); begin < until; begin = SteadyClock::now()) {
        if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0 || !read_answer(socket.get(), in)) {
            socket = connect_to(load.address);
        }
        times.push_back(std::chrono::duration<double, std::micro>(SteadyClock::now() - begin).count());
    }
    return times;
}

}  // namespace

bool has_wrk() {
    return output_of("command -v wrk").find("wrk") != std::string::npos;
}

LoadFigures load_by_wrk(const RequestLoad& load) {
    const int seconds = std::max(1, static_cast<int>(std::lround(load.seconds)));
    const std::string text = output_of("wrk --latency -t 1 -c " + std::to_string(load.connections) + " -d " +
                                       std::to_string(seconds) + "s http://" + load.address + load.path + " 2>&1");
    std::smatch match;
    if (text.find("Non-2xx") != std::string::npos || text.find("Socket errors") != std::string::npos ||
        !std::regex_search(text, match, std::regex(R"(Requests/sec:\s+([\d.]+))"))) {
        throw std::runtime_error("wrk: " + text);
    }
    return {std::stod(match[1]), time_after(text, "50%"), time_after(text, "99%")};
}

LoadFigures load_by_threads(const RequestLoad& load) {
    std::vector<std::vector<double>> times(load.connections);
    std::vector<std::string> faults(load.connections);
    std::vector<std::thread> threads;
    const auto begin = SteadyClock::now();
    const auto until =
        begin + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(load.seconds));
    for (std::size_t client = 0; client < load.connections; ++client) {
        threads.emplace_back([&, client] {
            try {
                times[client] = ask(load, until);
            } catch (const std::exception& error) {
                faults[client] = error.what();
            }
        });
    }
    std::vector<double> all;
    for (std::size_t client = 0; client < load.connections; ++client) {
        threads[client].join();
        all.insert(all.end(), times[client].begin(), times[client].end());
    }
    const std::chrono::duration<double> time = SteadyClock::now() - begin;
    const auto fault = std::find_if(faults.begin(), faults.end(), [](const auto& text) { return !text.empty(); });
    if (fault != faults.end() || all.empty()) {
        throw std::runtime_error(fault == faults.end() ? "no answer at all" : *fault);
    }
    return {static_cast<double>(all.size()) / time.count(), quantile(all, 0.5), quantile(all, 0.99)};
}

}  // namespace telegate::perf
