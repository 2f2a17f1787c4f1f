#include "placement.hpp"

#include <cerrno>
#include <system_error>

namespace telegate::perf {

namespace {

[[nodiscard]] cpu_set_t allowed() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) {
        throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
    }
    return set;
}

}  // namespace

Placement placement_of(std::string_view name) {
    const cpu_set_t set = allowed();
    std::optional<int> first;
    std::optional<int> last;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(static_cast<unsigned>(processor), &set)) {
            first = first ? first : processor;
            last = processor;
        }
    }
    if (name == "together") {
        return {first, first};
    }
    return name == "apart" && first != last ? Placement{first, last} : Placement{};
}

std::string words_of(const Placement& placement) {
    if (!placement.asking || !placement.answering) {
        return "where the system puts them";
    }
    if (placement.asking == placement.answering) {
        return "both pinned to processor " + std::to_string(*placement.asking);
    }
    return "pinned to processors " + std::to_string(*placement.asking) + " and " + std::to_string(*placement.answering);
}

Pin::Pin(std::optional<int> processor) {
    if (!processor) {
        return;
    }
    before_ = allowed();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(*processor), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) {
        throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
    }
}

Pin::~Pin() {
    if (before_) {
        ::sched_setaffinity(0, sizeof *before_, &*before_);
    }
}

}  // namespace telegate::perf
