#pragma once

#include <cstddef>
#include <string>

namespace telegate::perf {

/// What clients got out of a server that each asked again as soon as it had its answer.
struct LoadFigures {
    double requests_per_s = 0;
    double p50_us = 0;
    double p99_us = 0;
};

struct RequestLoad {
    std::string address = {};  // "127.0.0.1:8080"
    std::string path = "/status";
    std::size_t connections = 1;
    double seconds = 1;
};

/// Whether wrk is here, which is kinder to the server's processors than a client of ours.
[[nodiscard]] bool has_wrk();

/// By wrk, in whole seconds. Throws std::runtime_error when an answer was wrong.
[[nodiscard]] LoadFigures load_by_wrk(const RequestLoad& load);

/// The same with a thread for each connection. Throws std::runtime_error.
[[nodiscard]] LoadFigures load_by_threads(const RequestLoad& load);

}  // namespace telegate::perf
