/// telegate_peer: a socket of core as a program, so that tests in any language can communicate with it.

#include "interop/peer/socket_peer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace telegate::test {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_deadline = 3;

void print(const PeerReport& report) {
    std::puts(to_json(report).c_str());
    std::fflush(stdout);
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) {
        throw std::invalid_argument("invalid number: " + std::string(text));
    }
    return value;
}

/// Reads lines from standard input, which must be a pipe; its end is reported as the line "quit".
///
/// Threads: the reactor's. Limits: an unterminated line grows without limit; tests send short lines. Failure:
/// exceptions of on_line.
class CommandLines {
  public:
    CommandLines(Reactor& reactor, std::function<void(std::string_view)> on_line)
        : on_line_(std::move(on_line)),
          watch_(
              reactor, STDIN_FILENO, [this] { read(); }, [] {}) {
        watch_.wait_readable();
    }

  private:
    void read() {
        std::array<char, 4096> room;
        const ssize_t bytes = ::read(STDIN_FILENO, room.data(), room.size());
        if (bytes <= 0) {
            on_line_("quit");
            return;
        }
        text_.append(room.data(), static_cast<std::size_t>(bytes));
        for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
            const std::string line = text_.substr(0, end);
            text_.erase(0, end + 1);
            on_line_(line);
        }
        watch_.wait_readable();
    }

    std::function<void(std::string_view)> on_line_;
    std::string text_;
    Watch watch_;
};

template <class Socket>
void obey(SocketPeer<Socket>& peer, std::string_view line, const std::function<void(int)>& quit) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    const std::string_view argument = line.substr(std::min(space + 1, line.size()));
    if (word == "status") {
        print(peer.report());
    } else if (word == "send") {
        peer.send(number(argument));
    } else if (word == "rate") {
        peer.set_rate(number(argument));
    } else if (word == "pause" || word == "resume") {
        peer.set_paused(word == "pause");
    } else if (word == "subscribe" || word == "unsubscribe") {
        peer.set_subscribed(argument, word == "subscribe");
    } else if (word == "quit") {
        quit(0);
    } else {
        throw std::invalid_argument("unknown command: " + std::string(line));
    }
}

template <class Socket>
int serve(const PeerOptions& options) {
    Reactor reactor;
    SocketPeer<Socket> peer(reactor, options);
    bool quitting = false;
    int exit_code = 0;
    const std::function<void(int)> quit = [&](int code) {
        if (!std::exchange(quitting, true)) {
            exit_code = code;
            peer.close_all([&] {
                print(peer.report());
                reactor.stop();
            });
        }
    };
    CommandLines lines(reactor, [&](std::string_view line) { obey(peer, line, quit); });
    Alarm deadline(reactor, [&] { quit(exit_deadline); });
    deadline.set(options.deadline);
    print(peer.report());
    reactor.run();
    return exit_code;
}

int run(const PeerOptions& options) {
    if (options.role == "pub") {
        return serve<Publisher>(options);
    }
    if (options.role == "sub") {
        return serve<Subscriber>(options);
    }
    return options.role == "dealer" ? serve<Dealer>(options) : serve<Router>(options);
}

}  // namespace
}  // namespace telegate::test

int main(int argc, char** argv) {
    try {
        return telegate::test::run(telegate::test::parse_peer_options(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "telegate_peer: %s\n", error.what());
        return telegate::test::exit_failed;
    }
}
