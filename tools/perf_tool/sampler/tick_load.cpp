#include "tick_load.hpp"

#include "app/gateway.hpp"
#include "config/load.hpp"
#include "log/log.hpp"
#include "plan/plan.hpp"
#include "rest/rest_settings.hpp"

#include <httplib.h>

#include <algorithm>
#include <stdexcept>

namespace telegate::perf {

namespace {

constexpr std::size_t clients = 4;

}  // namespace

struct TickLoad::Rest {
    Rest() : Rest(parse_settings(rest_settings, "perf_tool")) {}
    explicit Rest(const Settings& settings) : gateway(settings, make_plan(settings), log) { gateway.start(); }

    Log log{"off"};
    Gateway gateway;
};

TickLoad::TickLoad(const std::string& name) {
    if (name == "rest") {
        rest_ = std::make_unique<Rest>();
        // Before there are several clients: what the library makes at its first request is then made by one thread.
        httplib::Client first("http://" + rest_->gateway.rest_address());
        if (!first.Get("/status")) {
            throw std::runtime_error("GET /status: no answer");
        }
        for (std::size_t client = 0; client < clients; ++client) {
            threads_.emplace_back([this] { ask_for_status(); });
        }
    } else if (name == "hog") {
        for (unsigned hog = 0; hog < std::max(std::thread::hardware_concurrency(), 1U); ++hog) {
            threads_.emplace_back([this] { be_busy(); });
        }
    }
}

void TickLoad::ask_for_status() {
    httplib::Client http("http://" + rest_->gateway.rest_address());
    http.set_keep_alive(true);
    while (!stopping_.load(std::memory_order_relaxed)) {
        const auto answer = http.Get("/status");
        ++(answer && answer->status == 200 ? answers_ : wrong_);
    }
}

void TickLoad::be_busy() const noexcept {
    while (!stopping_.load(std::memory_order_relaxed)) {
    }
}

TickLoad::~TickLoad() {
    join();
}

std::uint64_t TickLoad::stop() {
    join();
    if (wrong_ > 0 || (rest_ && answers_ == 0)) {
        throw std::runtime_error("GET /status: " + std::to_string(answers_) + " answers, " + std::to_string(wrong_) +
                                 " refusals or none at all");
    }
    return answers_;
}

void TickLoad::join() noexcept {
    stopping_ = true;
    for (std::thread& thread : threads_) {
        if (thread.joinable()) {
            thread.join();
        }
    }
}

}  // namespace telegate::perf
