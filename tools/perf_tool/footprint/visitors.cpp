#include "visitors.hpp"

#include "core/endpoint.hpp"
#include "core/unique_fd.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <charconv>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <variant>

namespace telegate::perf {

namespace {

constexpr std::string_view question = "GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
constexpr std::string_view good_answer = "HTTP/1.1 200 ";

/// The whole answer to one question, by a connection of its own.
std::string ask(const sockaddr_in& address) {
    constexpr timeval answer_time_max{10, 0};
    const UniqueFd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &answer_time_max, sizeof answer_time_max);
    if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::send(connection.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) {
        throw std::runtime_error("the REST server does not take a connection");
    }
    std::string answer;
    std::array<char, 16 * 1024> part{};
    for (ssize_t bytes = 1; bytes > 0;) {
        bytes = ::recv(connection.get(), part.data(), part.size(), 0);
        answer.append(part.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    }
    if (!answer.starts_with(good_answer)) {
        throw std::runtime_error("GET /status was answered by \"" + answer.substr(0, good_answer.size()) + "...\"");
    }
    return answer;
}

/// Of "127.0.0.1:43567".
sockaddr_in address_of(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    std::uint16_t port = 0;
    if (colon == std::string::npos ||
        std::from_chars(text.data() + colon + 1, text.data() + text.size(), port).ec != std::errc()) {
        throw std::runtime_error("\"" + text + "\" is not an address and a port");
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr);
    return address;
}

}  // namespace

std::string status_at(const std::string& address) {
    constexpr std::string_view end_of_head = "\r\n\r\n";
    const std::string answer = ask(address_of(address));
    const std::size_t end = answer.find(end_of_head);
    if (end == std::string::npos) {
        throw std::runtime_error("GET /status was answered by half a head: " + answer);
    }
    return answer.substr(end + end_of_head.size());
}

Crowd::Crowd(const std::string& endpoint, std::size_t subscribers) {
    while (subscribers_.size() < subscribers) {
        Subscriber& subscriber = *subscribers_.emplace_back(std::make_unique<Subscriber>(reactor_, SocketOptions()));
        subscriber.subscribe("");
        subscriber.connect(std::get<Endpoint>(parse_endpoint(endpoint)));
        subscriber.set_on_readable([this, &subscriber] {
            while (subscriber.receive(batch_)) {
                messages_.fetch_add(batch_.size(), std::memory_order_relaxed);
            }
        });
    }
    thread_ = std::thread([this] { reactor_.run(); });
}

Crowd::~Crowd() {
    reactor_.stop();
    thread_.join();
}

StatusPoller::StatusPoller(const std::string& address, std::chrono::nanoseconds interval) {
    thread_ = std::thread([this, to = address_of(address), interval] { run(to, interval); });
}

StatusPoller::~StatusPoller() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

void StatusPoller::run(const sockaddr_in& address, std::chrono::nanoseconds interval) {
    try {
        for (auto due = std::chrono::steady_clock::now(); !stopping_; due += interval) {
            std::this_thread::sleep_until(due);
            const auto begin = std::chrono::steady_clock::now();
            (void)ask(address);
            const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
            answer_us_.push_back(time.count());
        }
    } catch (const std::exception& error) {
        fault_ = error.what();
    }
}

std::vector<double> StatusPoller::stop() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
    if (!fault_.empty()) {
        throw std::runtime_error(fault_);
    }
    return std::move(answer_us_);
}

}  // namespace telegate::perf
