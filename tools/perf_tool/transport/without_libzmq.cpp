#include "engine.hpp"

namespace telegate::perf {

std::vector<Engine> libzmq_engines(std::size_t /*io_threads*/) {
    return {};
}

std::string libzmq_version() {
    return {};
}

}  // namespace telegate::perf
