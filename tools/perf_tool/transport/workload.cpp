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

}  // namespace telegate::perf
