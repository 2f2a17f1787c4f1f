#include "ping_pong.hpp"

#include "core/dealer.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "endpoint_text.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace telegate::perf {

namespace {

Endpoint endpoint_over(Transport transport) {
    return std::get<Endpoint>(parse_endpoint(endpoint_text(transport)));
}

/// The frame of a batch of one message of one frame.
Bytes only_frame_of(const MessageBatch& batch) {
    if (batch.size() != 1 || batch[0].size() != 1) {
        throw std::runtime_error("something else than one frame came");
    }
    return batch[0][0];
}

void answer(Router& router, MessageBatch& batch) {
    if (!router.receive_for(batch, stop_interval)) {
        return;
    }
    const Bytes frame = only_frame_of(batch);
    if (router.send(batch.peer(), std::span(&frame, 1)) != SendStatus::sent) {
        throw std::runtime_error("the router did not take an answer");
    }
    router.flush();
}

Bytes exchange(Dealer& dealer, MessageBatch& batch, Bytes payload) {
    if (dealer.send(std::span(&payload, 1)) != SendStatus::sent) {
        throw std::runtime_error("the dealer did not take a message");
    }
    dealer.flush();
    if (!dealer.receive_for(batch, answer_time_max)) {
        throw std::runtime_error("Telegate: no answer within ten seconds");
    }
    return only_frame_of(batch);
}

RoundTrips run_telegate_latency(const LatencyWork& work) {
    Reactor router_reactor;
    Router router(router_reactor, {});
    Reactor dealer_reactor;
    Dealer dealer(dealer_reactor, {});
    dealer.connect(router.bind(endpoint_over(work.transport)));
    MessageBatch questions;
    MessageBatch answers;
    return run_both(
        work.placement, [&] { answer(router, questions); },
        [&] { return time_round_trips(work, [&](Bytes payload) { return exchange(dealer, answers, payload); }); });
}

std::string telegate_setup() {
    return "a Dealer and a Router, a Reactor in each thread, receive_for()";
}

}  // namespace

LatencyEngine telegate_latency() {
    return {"telegate", telegate_setup, any_transport, run_telegate_latency};
}

}  // namespace telegate::perf
