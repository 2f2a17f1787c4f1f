// Needs: gateway/src/services/service_request.cpp gateway/src/base/json_excerpt.cpp gateway/src/encode/time_text.cpp
// Needs: gateway/src/base/strict_json.cpp nlohmann_json::nlohmann_json

#include "services/service_request.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// An accepted request is within its limits.
void require_allowed(const ServiceRequest& request) {
    require(request.limit >= 1 && request.limit <= ServiceRequest::limit_max);
    require(request.prefix.size() <= ServiceRequest::prefix_bytes_max);
    require(request.after.size() <= ServiceRequest::prefix_bytes_max);
    require(!request.head.service_json.empty());
    if (request.holes) {
        require(!request.since && !request.holes->empty() && request.holes->size() <= ServiceRequest::holes_max);
        for (const ServiceHole& hole : *request.holes) {
            require(hole.first_seq >= 1 && hole.first_seq <= hole.last_seq);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* const bytes = data;
    const auto read = read_service_request({static_cast<const char*>(bytes), size});
    if (const auto* const fault = std::get_if<ServiceFault>(&read)) {
        require(!fault->detail.empty() && fault->detail.size() < 1'024);
    } else {
        require_allowed(std::get<ServiceRequest>(read));
    }
    return 0;
}
