#pragma once

#include "core/endpoint.hpp"

namespace telegate::perf {

/// Where an engine binds.
[[nodiscard]] inline const char* endpoint_text(Transport transport) noexcept {
    switch (transport) {
        case Transport::tcp: return "tcp://127.0.0.1:*";
        case Transport::ipc: return "ipc://*";
        case Transport::inproc: break;
    }
    return "inproc://perf_tool";
}

}  // namespace telegate::perf
