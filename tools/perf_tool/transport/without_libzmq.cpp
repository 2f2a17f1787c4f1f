#include "engine.hpp"

namespace telegate::perf {

std::vector<Engine> libzmq_engines() {
    return {};
}

std::string libzmq_version() {
    return {};
}

}  // namespace telegate::perf
