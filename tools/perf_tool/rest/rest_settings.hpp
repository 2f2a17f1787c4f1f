#pragma once

namespace telegate::perf {

/// Of a gateway at work, as shipped but for the ports: sampling, queue and publishers have their share of the
/// processors.
inline constexpr const char* rest_settings =
    "[rest]\nlisten = 127.0.0.1:0\n"
    "[publish \"tcp\"]\nendpoint = tcp://127.0.0.1:*\n"
    "[device \"host\"]\ndriver = host\n[device \"simulated\"]\ndriver = simulated\n";

}  // namespace telegate::perf
