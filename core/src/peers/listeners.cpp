#include "peers/listeners.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

Listeners::Listeners(Events events) noexcept : events_(std::move(events)) {}

Endpoint Listeners::add(std::shared_ptr<const Security> security, const MakeListener& make) {
    auto listening = std::make_unique<Listening>();
    transport::ListenerEvents events;
    events.on_accept = [this, at = listening.get()](std::unique_ptr<Stream> stream) {
        events_.accepted(*at, std::move(stream));
    };
    events.on_error = [this, at = listening.get()](int error) {
        events_.failed(*at, error);
    };
    listening->listener = make(std::move(events));
    Endpoint bound = listening->listener->endpoint();
    listening->endpoint = to_string(bound);
    listening->security = std::move(security);
    listening_.push_back(std::move(listening));
    return bound;
}

bool Listeners::set_security(const Endpoint& endpoint, std::shared_ptr<const Security> security) {
    for (const auto& listening : listening_) {
        if (listening->listener->endpoint() == endpoint) {
            listening->security = std::move(security);
            return true;
        }
    }
    return false;
}

std::string Listeners::remove(const Endpoint& endpoint) {
    const auto found = std::find_if(listening_.begin(), listening_.end(),
                                    [&](const auto& each) { return each->listener->endpoint() == endpoint; });
    if (found == listening_.end()) {
        return {};
    }
    removed_.push_back(std::move(*found));
    listening_.erase(found);
    removed_.back()->listener.reset();
    return removed_.back()->endpoint;
}

std::vector<Endpoint> Listeners::endpoints() const {
    std::vector<Endpoint> result;
    result.reserve(listening_.size());
    for (const auto& listening : listening_) {
        result.push_back(listening->listener->endpoint());
    }
    return result;
}

}  // namespace telegate
