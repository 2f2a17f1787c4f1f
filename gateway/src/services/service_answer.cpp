#include "services/service_answer.hpp"
#include "base/json_excerpt.hpp"

#include <nlohmann/json.hpp>

namespace telegate {

std::string begin_answer(const ServiceHead& head, std::int64_t epoch_ms) {
    std::string out = "{\"service\":" + (head.service_json.empty() ? "null" : head.service_json);
    if (!head.id_json.empty()) {
        out += ",\"id\":" + head.id_json;
    }
    return out + ",\"epoch\":" + std::to_string(epoch_ms);
}

std::string error_answer(const ServiceFault& fault, std::int64_t epoch_ms, std::chrono::milliseconds retry_after) {
    std::string out = begin_answer(fault.head, epoch_ms) + ",\"error\":{\"code\":\"" +
                      std::string(to_string(fault.error)) + "\",\"detail\":" + json_text(fault.detail);
    if (!fault.pointer.empty()) {
        out += ",\"pointer\":" + json_text(fault.pointer);
    }
    if (fault.error == ServiceError::busy) {
        out += ",\"retry_after_ms\":" + std::to_string(retry_after.count());
    }
    return out + "}}";
}

}  // namespace telegate
