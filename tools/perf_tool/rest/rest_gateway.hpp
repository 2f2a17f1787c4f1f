#pragma once

#include "app/gateway.hpp"
#include "config/load.hpp"
#include "log/log.hpp"
#include "plan/plan.hpp"

namespace telegate::perf {

/// A gateway in this process with the default settings on free ports: it samples and publishes while it serves
/// requests. Threads: one. Limits: none. Failure: the constructor throws as Gateway's.
struct RestGateway {
    RestGateway()
        : RestGateway(parse_settings("[rest]\nlisten = 127.0.0.1:0\n"
                                     "[publish \"tcp\"]\nendpoint = tcp://127.0.0.1:*\n"
                                     "[device \"host\"]\ndriver = host\n[device \"simulated\"]\ndriver = simulated\n",
                                     "perf_tool")) {}
    explicit RestGateway(const Settings& settings) : gateway(settings, make_plan(settings), log) { gateway.start(); }

    Log log{"off"};
    Gateway gateway;
};

}  // namespace telegate::perf
