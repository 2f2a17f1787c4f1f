#include "transport/inproc/inproc_stream.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate::transport {
namespace {

constexpr std::size_t name_bytes_max = 255;

std::variant<Endpoint, EndpointFault> parse_inproc(std::string_view text) {
    if (text.empty() || text.size() > name_bytes_max) {
        return EndpointFault{"invalid name: must be 1 to " + std::to_string(name_bytes_max) + " bytes"};
    }
    if (text.find('\0') != std::string_view::npos) {
        return EndpointFault{"invalid name: contains a zero byte"};
    }
    return Endpoint{Transport::inproc, "", 0, std::string(text)};
}

/// The callbacks of one side of the registry, and the reactor that runs them. `gone` is only used on the reactor's
/// thread.
struct Acceptor {
    Reactor& reactor;
    ListenerEvents events;
    bool gone = false;
};

struct Attempt {
    Reactor& reactor;
    OnConnected on_connected;
    bool gone = false;
};

/// Posted functions are copied; streams cannot be.
using StreamHolder = std::shared_ptr<std::unique_ptr<Stream>>;

StreamHolder hold(std::unique_ptr<Stream> stream) {
    return std::make_shared<std::unique_ptr<Stream>>(std::move(stream));
}

void post_accept(const std::shared_ptr<Acceptor>& acceptor, StreamHolder stream) {
    acceptor->reactor.post([acceptor, stream = std::move(stream)] {
        if (!acceptor->gone) {
            acceptor->events.on_accept(std::move(*stream));
        }
    });
}

void post_connected(const std::shared_ptr<Attempt>& attempt, StreamHolder stream, int error) {
    attempt->reactor.post([attempt, stream = std::move(stream), error] {
        if (!attempt->gone) {
            attempt->on_connected(std::move(*stream), error);
        }
    });
}

/// Both sides are registered, so functions can be posted to their reactors.
void join(const std::shared_ptr<Acceptor>& acceptor, const std::shared_ptr<Attempt>& attempt) {
    std::shared_ptr<InprocLink> link;
    try {
        link = std::make_shared<InprocLink>();
    } catch (const std::system_error& failure) {
        return post_connected(attempt, hold(nullptr), failure.code().value());
    }
    post_accept(acceptor, hold(std::make_unique<InprocStream>(acceptor->reactor, link, 0)));
    post_connected(attempt, hold(std::make_unique<InprocStream>(attempt->reactor, link, 1)), 0);
}

/// The listeners at the names of this process, and the connectors that wait for one.
/// Threads: any. Limits: one entry per listener, one per waiting connector. Failure: add() throws std::system_error.
class Registry {
  public:
    void add(const Endpoint& endpoint, const std::shared_ptr<Acceptor>& acceptor) {
        const std::lock_guard lock(mutex_);
        Name& name = name_of(endpoint);
        if (name.acceptor) {
            throw_at(EADDRINUSE, endpoint);
        }
        name.acceptor = acceptor;
        for (const auto& attempt : std::exchange(name.waiting, {})) {
            join(acceptor, attempt);
        }
    }
    /// After this returns, nothing more is posted to its reactor.
    void remove(const Endpoint& endpoint) {
        const std::lock_guard lock(mutex_);
        names_.erase(endpoint.path);  // no connector waits where there is a listener
    }

    void add(const Endpoint& endpoint, const std::shared_ptr<Attempt>& attempt) {
        const std::lock_guard lock(mutex_);
        Name& name = name_of(endpoint);
        if (name.acceptor) {
            join(name.acceptor, attempt);
        } else {
            name.waiting.push_back(attempt);
        }
    }
    /// After this returns, nothing more is posted to its reactor.
    void remove(const Endpoint& endpoint, const std::shared_ptr<Attempt>& attempt) {
        const std::lock_guard lock(mutex_);
        const auto name = names_.find(endpoint.path);
        if (name == names_.end()) {
            return;
        }
        std::erase(name->second.waiting, attempt);
        if (!name->second.acceptor && name->second.waiting.empty()) {
            names_.erase(name);
        }
    }

  private:
    struct Name {
        std::shared_ptr<Acceptor> acceptor;
        std::vector<std::shared_ptr<Attempt>> waiting;
    };

    Name& name_of(const Endpoint& endpoint) {
        if (endpoint.path.empty() || endpoint.path.size() > name_bytes_max) {
            throw_at(EINVAL, endpoint);
        }
        return names_[endpoint.path];
    }

    std::mutex mutex_;
    std::map<std::string, Name, std::less<>> names_;
};

Registry& registry() {
    static Registry only;
    return only;
}

/// Listener at a name. Threads: the reactor's thread. Limits, Failure: as Listener.
class InprocListener final : public Listener {
  public:
    InprocListener(Reactor& reactor, const Endpoint& endpoint, ListenerEvents events)
        : endpoint_(endpoint), acceptor_(std::make_shared<Acceptor>(Acceptor{reactor, std::move(events), false})) {
        registry().add(endpoint_, acceptor_);
    }
    ~InprocListener() override {
        registry().remove(endpoint_);
        acceptor_->gone = true;
    }

    [[nodiscard]] const Endpoint& endpoint() const noexcept override { return endpoint_; }

  private:
    const Endpoint endpoint_;
    const std::shared_ptr<Acceptor> acceptor_;
};

/// Connector to a name. Threads: the reactor's thread. Limits: none. Failure: as Connector.
class InprocConnector final : public Connector {
  public:
    InprocConnector(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected)
        : endpoint_(endpoint), attempt_(std::make_shared<Attempt>(Attempt{reactor, std::move(on_connected), false})) {
        registry().add(endpoint_, attempt_);
    }
    ~InprocConnector() override {
        registry().remove(endpoint_, attempt_);
        attempt_->gone = true;
    }

  private:
    const Endpoint endpoint_;
    const std::shared_ptr<Attempt> attempt_;
};

std::unique_ptr<Listener> listen_inproc(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& /*options*/,
                                        ListenerEvents events) {
    return std::make_unique<InprocListener>(reactor, endpoint, std::move(events));
}

std::unique_ptr<Connector> connect_inproc(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    return std::make_unique<InprocConnector>(reactor, endpoint, std::move(on_connected));
}

}  // namespace

const TransportRow inproc_row{.name = "inproc",
                              .stays_in_process = true,
                              .parse = parse_inproc,
                              .text = path_text,
                              .is_any = [](const Endpoint&) { return false; },
                              .listen = listen_inproc,
                              .connect = connect_inproc,
                              .bind = nullptr,
                              .endpoint_of = nullptr,
                              .is_at = nullptr,
                              .make_stream = nullptr};

}  // namespace telegate::transport
