#include "latency.hpp"
#include "telegate_links.hpp"

#include "core/dealer.hpp"

namespace telegate::perf {

namespace {

Bytes only_frame_of(const MessageBatch& batch) {
    if (batch.size() != 1 || batch[0].size() != 1) {
        throw std::runtime_error("received more than one frame");
    }
    return batch[0][0];
}

RoundTrips run_telegate_latency(const LatencyWork& work) {
    Reactor router_reactor;
    Router router(router_reactor, {});
    Reactor dealer_reactor;
    Dealer dealer(dealer_reactor, {});
    dealer.connect(router.bind(endpoint_over(work.transport)));
    MessageBatch requests;
    MessageBatch replies;
    const auto answer = [&] {
        if (!router.receive_for(requests, stop_interval)) {
            return;
        }
        const Bytes frame = only_frame_of(requests);
        if (router.send(requests.peer(), std::span(&frame, 1)) != SendStatus::sent) {
            throw std::runtime_error("cannot send a reply");
        }
        router.flush();
    };
    const auto exchange = [&](Bytes payload) {
        if (dealer.send(std::span(&payload, 1)) != SendStatus::sent) {
            throw std::runtime_error("cannot send a request");
        }
        dealer.flush();
        return dealer.receive_for(replies, reply_time_max) ? only_frame_of(replies) : Bytes();
    };
    return run_both(work.placement, answer, [&] { return time_round_trips(work, exchange); });
}

}  // namespace

std::vector<Engine> telegate_engines(std::span<const std::size_t> io_threads) {
    std::vector<Engine> engines;
    const auto add = [&engines](std::size_t count, const std::string& variant) {
        engines.push_back({"telegate", variant, is_possible, [count](const Workload& work) {
                               const TelegateSettings settings = telegate_settings(work, count);
                               return work.pattern == Pattern::pubsub ? run_workload<TelegatePubSub>(work, settings)
                                                                      : run_workload<TelegateRouting>(work, settings);
                           }});
    };
    for (const std::size_t count : io_threads) {
        add(count, std::to_string(count) + (count == 1 ? " I/O thread" : " I/O threads"));
    }
    if (engines.empty()) {
        add(1, "");
    }
    return engines;
}

LatencyEngine telegate_latency() {
    return {"telegate", "a Dealer and a Router, a Reactor in each thread, receive_for()",
            [](Transport) { return true; }, run_telegate_latency};
}

}  // namespace telegate::perf
