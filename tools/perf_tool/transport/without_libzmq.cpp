#include "latency.hpp"

namespace telegate::perf {

std::vector<Engine> libzmq_engines(std::size_t /*io_threads*/) {
    return {};
}

std::string libzmq_version() {
    return {};
}

std::vector<LatencyEngine> libzmq_latency() {
    return {};
}

}  // namespace telegate::perf
