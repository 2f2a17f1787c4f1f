#include "endpoints/service_endpoints.hpp"

namespace telegate {

ServiceEndpoints::ServiceEndpoints(Router& router, std::span<const ServiceEndpoint> endpoints)
    : bound_(ServiceSockets(router)) {
    bound_.bind(endpoints);
    record_urls();
}

std::vector<std::string> ServiceEndpoints::roll_back(Prepared& prepared) {
    std::vector<std::string> lost = bound_.roll_back(prepared);
    record_urls();
    return lost;
}

void ServiceEndpoints::apply(Prepared& prepared, std::chrono::milliseconds grace) {
    bound_.apply(prepared, grace);
    record_urls();
}

void ServiceEndpoints::record_urls() {
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
