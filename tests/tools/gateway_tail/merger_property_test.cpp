#include "model_gateway.hpp"

#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace telegate::tail::test {
namespace {

using std::chrono::milliseconds;

const std::array<std::string, 5> drawn_topics = {"a/x", "a/y", "b/x", "b/y",
                                                 "c/z"};  // the last one in later epochs only

/// Compares the output with the expected output: consecutive seqs, each output as published or lost with a reason.
class Witness final : public MergerOutput {
  public:
    explicit Witness(const ModelGateway& gateway) : gateway_(gateway) {}

    void write(const Sample& sample) override {
        receive(sample.topic, sample.epoch, sample.seq, sample.seq);
        check(sample.value.type == ValueType::integer &&
                  sample.value.integer == ModelGateway::value_of(sample.epoch, sample.seq),
              "another value");
        ++written;
        recovered += sample.replayed ? 1 : 0;
    }
    void lose(const Gap& gap) override {
        receive(gap.topic, gap.epoch, gap.first_seq, gap.last_seq);
        const bool is_without_answer = gap.reason == Reason::no_answer || gap.reason == Reason::slow;
        const ModelGateway::Truth& truth = gateway_.truths().at({std::string(gap.topic), gap.epoch});
        for (std::uint64_t seq = gap.first_seq; seq <= gap.last_seq; ++seq) {
            check(seq <= truth.fates.size(), "lost a seq that does not exist");
            const bool is_dropped =
                truth.fates[static_cast<std::size_t>(seq - 1)] == ModelGateway::Fate::queue_overflow;
            const bool is_held = gap.epoch == gateway_.epoch() && seq >= truth.first_held;
            const bool says_dropped = gap.reason == Reason::queue_overflow || gap.reason == Reason::dropped;
            check(!says_dropped || is_dropped, "reported as dropped, but it was published");
            check(is_without_answer || is_dropped || !is_held, "reported as lost, but the gateway has it");
        }
        lost += gap.last_seq - gap.first_seq + 1;
        abandoned = abandoned || is_without_answer;
    }
    void end_unknown(std::int64_t epoch) override { unknown_ends.insert(epoch); }

    std::map<ModelGateway::Key, std::pair<std::uint64_t, std::uint64_t>> ranges;
    std::set<std::int64_t> unknown_ends;
    std::uint64_t written = 0;
    std::uint64_t recovered = 0;
    std::uint64_t lost = 0;
    bool abandoned = false;
    std::string fault;

  private:
    void receive(std::string_view topic, std::int64_t epoch, std::uint64_t first, std::uint64_t last) {
        const auto [at, is_new] = ranges.try_emplace({std::string(topic), epoch}, first, last);
        check(is_new || at->second.second + 1 == first, "a duplicate, or out of order");
        at->second.second = last;
        std::int64_t& latest = latest_[std::string(topic)];
        check(latest == epoch || is_new, "an epoch that was already closed");
        latest = epoch;
    }
    void check(bool holds, const char* what) {
        if (!holds && fault.empty()) {
            fault = what;
        }
    }

    const ModelGateway& gateway_;
    std::map<std::string, std::int64_t> latest_;
};

/// One run: the seed determines the events.
struct Run {
    Run(unsigned seed, const ModelTroubles& given_troubles, const MergerOptions& given_options)
        : troubles(given_troubles),
          options(given_options),
          gateway(seed, given_troubles),
          witness(gateway),
          merger(given_options, witness) {}

    void connect() {
        if (!gateway.is_connected()) {
            gateway.connect();
            merger.live_up(now);
        }
        merger.services_up();
        busy_until = now;
    }
    void cut() {
        gateway.deliver(merger, gateway.any(20));
        gateway.disconnect();
        merger.live_down();
        merger.services_down(now);
    }
    void turn() {
        if (const std::optional<Request> request = merger.turn(now)) {
            is_impatient = is_impatient || now < busy_until;
            Answer answer;
            if (gateway.answer(*request, answer)) {
                now += milliseconds(2);
                gateway.deliver(merger, gateway.any(5));
                const std::uint64_t ignored = merger.counts().answers_ignored;
                merger.answer(answer, now);
                busy_until =
                    answer.error && merger.counts().answers_ignored == ignored ? now + answer.error->retry_after : now;
                answer.id -= gateway.any(2);  // a late reply to an earlier request, or a duplicate
                merger.answer(answer, now);
            }
        }
    }
    void publish(std::size_t count) {
        for (; count > 0; --count) {
            gateway.sample(drawn_topics[gateway.any(gateway.epoch() == 100 ? 4 : 5)]);
        }
    }
    void step() {
        const std::size_t what = gateway.any(100);
        if (what < 60) {
            publish(1);
        } else if (what < 75) {
            gateway.deliver(merger, gateway.any(30));
        } else if (what < 92) {
            turn();
        } else if (what < 94) {
            gateway.beat_all();
        } else if (what < 96) {
            now += milliseconds(gateway.any(300));
        } else if (what == 96 && gateway.any(4) == 0) {
            cut();
        } else if (what == 97 && gateway.any(20) == 0) {
            cut();
            gateway.restart();
        } else if (what == 98) {
            connect();
        }
        now += milliseconds(1);
        first_epoch = first_epoch == 0 ? merger.epoch() : first_epoch;
    }
    /// Everything is reachable again, and heartbeat notices or a new connection reveal missing samples: all must be
    /// resolved.
    void settle(bool has_beats) {
        connect();
        for (int round = 0; round < 3'000; ++round) {
            if (round % 1'000 == 0) {
                has_beats ? gateway.beat_all() : cut();
                connect();
            }
            gateway.deliver(merger, 100);
            turn();
            now += milliseconds(20);
        }
    }

    const ModelTroubles troubles;
    const MergerOptions options;
    Time now = Time() + std::chrono::hours(1);
    Time busy_until = Time::min();
    bool is_impatient = false;
    std::int64_t first_epoch = 0;  // that the merger knew
    ModelGateway gateway;
    Witness witness;
    Merger merger;
};

void check_all_is_covered(const Run& run) {
    std::set<std::string> seen;
    for (const auto& [key, range] : run.witness.ranges) {
        const ModelGateway::Truth& truth = run.gateway.truths().at(key);
        CAPTURE(key.first, key.second, range.first, range.second);
        if (key.second != run.first_epoch) {
            CHECK(range.first == 1);
        } else {
            CHECK((truth.first_early == 0 || run.options.last || range.first <= truth.first_early));
            CHECK((run.options.last || !run.options.since.empty() || range.first > truth.reported_before));
        }
        const bool is_end_unknown = run.witness.unknown_ends.count(key.second) == 1;
        if (key.second == run.gateway.epoch()) {
            CHECK(range.second == truth.last_reported);
            seen.insert(key.first);
        } else if (!is_end_unknown) {
            CHECK(truth.end_is_known);
            CHECK(range.second == truth.fates.size());
        }
    }
    for (const auto& [key, truth] : run.gateway.truths()) {
        CHECK((key.second != run.gateway.epoch() || key.second == run.first_epoch || truth.last_reported == 0 ||
               seen.count(key.first) == 1));
        const bool is_known = !run.troubles.is_old && !run.gateway.has_forgotten() && truth.end_is_known &&
                              key.second > run.first_epoch && key.second != run.gateway.epoch();
        CAPTURE(key.first, key.second);
        CHECK((!is_known || run.witness.unknown_ends.count(key.second) == 1 || truth.fates.empty() ||
               run.witness.ranges.count(key) == 1));
    }
}

}  // namespace

TEST_CASE("whatever happens, each sample is output once in order or reported as lost", "[tail][merger]") {
    const auto seed = GENERATE(range(0U, telegate::test::rounds(120U)));
    CAPTURE(seed);
    ModelTroubles troubles;
    troubles.history_samples = seed % 3 == 0 ? 40 : 1'000'000;
    MergerOptions options;
    options.since = seed % 4 == 0 ? "10m" : "";
    options.last = seed % 4 == 1;
    options.kept_samples_max = seed % 5 == 0 ? 10 : 1'000;
    troubles.is_old = seed % 7 == 0;
    Run run(seed, troubles, options);
    run.publish(seed % 50);
    run.connect();
    for (int count = 0; count < 3'000; ++count) {
        run.step();
    }
    run.settle(seed % 2 == 0);
    CHECK(run.witness.fault == "");
    CHECK_FALSE(run.is_impatient);
    CHECK(run.merger.is_settled());
    CHECK(run.merger.topics() <= drawn_topics.size());
    CHECK(run.merger.counts().refusal.empty());
    check_all_is_covered(run);
    CHECK(run.witness.written > 100);
}

TEST_CASE("requests to a gateway that always replies are never abandoned", "[tail][merger]") {
    const auto seed = GENERATE(range(0U, telegate::test::rounds(30U)));
    CAPTURE(seed);
    Run run(seed, {.lost_answers = 0, .busy = 5, .unclean_restart = 0}, {});
    run.connect();
    for (int count = 0; count < 3'000; ++count) {
        run.step();
        run.turn();
    }
    run.settle(seed % 2 == 0);
    CHECK(run.witness.fault == "");
    CHECK_FALSE(run.witness.abandoned);
    CHECK(run.witness.unknown_ends.empty());
    CHECK(run.witness.recovered > 0);
}

}  // namespace telegate::tail::test
