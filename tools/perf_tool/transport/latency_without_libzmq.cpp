#include "latency.hpp"

namespace telegate::perf {

std::span<const LatencyEngine> libzmq_latency() {
    return {};
}

}  // namespace telegate::perf
