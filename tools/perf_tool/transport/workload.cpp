#include "workload.hpp"

namespace telegate::perf {

std::string topic_name(const Workload& work, std::size_t topic) {
    if (work.topics == 1) {
        return {};
    }
    constexpr std::size_t digits = 7;
    const std::string number = std::to_string(topic);
    return "topic/" + std::string(digits - number.size(), '0') + number;
}

std::string size_name(std::size_t bytes) {
    constexpr std::size_t kib = 1024;
    if (bytes < kib || bytes % kib != 0) {
        return std::to_string(bytes) + " B";
    }
    return bytes % (kib * kib) == 0 ? std::to_string(bytes / kib / kib) + " MiB" : std::to_string(bytes / kib) + " KiB";
}

}  // namespace telegate::perf
