#include "endpoints/service_endpoints.hpp"

#include "base/setting_failure.hpp"

namespace telegate {

Endpoint ServiceSockets::bind(const Wanted& wanted) {
    return get_for("[services \"" + wanted.name + "\"] endpoint", wanted.endpoint.path, [&] {
        const Security security = to_security(wanted.curve);
        return wanted.adopted < 0 ? router_->bind(wanted.endpoint, security)
                                  : router_->bind_adopted(wanted.endpoint, wanted.adopted, security);
    });
}

ServiceEndpoints::ServiceEndpoints(Router& router, std::span<const ServiceEndpoint> endpoints)
    : bound_(ServiceSockets(router)) {
    bound_.bind(endpoints);
    note_urls();
}

std::vector<std::string> ServiceEndpoints::roll_back(Prepared& prepared) {
    std::vector<std::string> lost = bound_.roll_back(prepared);
    note_urls();
    return lost;
}

void ServiceEndpoints::apply(Prepared& prepared, std::chrono::milliseconds grace) {
    bound_.apply(prepared, grace);
    note_urls();
}

void ServiceEndpoints::note_urls() {
    const std::lock_guard lock(mutex_);
    urls_.clear();
    for (const auto& each : bound_.all()) {
        urls_.push_back(to_string(each.as_bound));
    }
}

std::vector<std::string> ServiceEndpoints::urls() const {
    const std::lock_guard lock(mutex_);
    return urls_;
}

std::vector<ServiceEndpoint> ServiceEndpoints::bound() const {
    std::vector<ServiceEndpoint> result;
    for (const auto& each : bound_.all()) {
        result.push_back({each.as_bound, each.wanted.name, -1, each.wanted.curve});
    }
    return result;
}

}  // namespace telegate
