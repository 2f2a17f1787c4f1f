#include "gateway_tail/merger.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

namespace telegate::tail::test {
namespace {

using std::chrono::milliseconds;

class Lines final : public MergerOutput {
  public:
    void write(const Sample& sample) override { add(sample.topic, sample.seq, sample.seq, ""); }
    void lose(const Gap& gap) override { add(gap.topic, gap.first_seq, gap.last_seq, to_string(gap.reason)); }
    void end_unknown(std::int64_t epoch) override { lines.push_back("end of " + std::to_string(epoch) + " unknown"); }

    std::vector<std::string> lines;

  private:
    void add(std::string_view topic, std::uint64_t first, std::uint64_t last, std::string_view reason) {
        lines.push_back(std::string(topic) + " " + std::to_string(first) +
                        (reason.empty() ? "" : ".." + std::to_string(last) + " " + std::string(reason)));
    }
};

struct Fixture {
    explicit Fixture(MergerOptions options = {}) : merger(std::move(options), output) { merger.live_up(now); }

    void live(std::uint64_t seq, std::int64_t epoch = 1) {
        Sample sample;
        sample.topic = "a/x";
        sample.epoch = epoch;
        sample.seq = seq;
        merger.live(sample);
    }
    void gap(std::uint64_t first, std::uint64_t last, Reason reason) { merger.gap({"a/x", 1, first, last, reason}); }
    /// The services reply to the next request, which is returned. `fill` adds to the reply.
    template <class Fill>
    Request reply(const Fill& fill, std::int64_t epoch = 1) {
        Request request = merger.turn(now).value();
        Answer answer;
        answer.id = request.id;
        answer.epoch = epoch;
        answer.is_end = true;
        fill(answer);
        merger.answer(answer, now);
        return request;
    }
    static void add(Answer& answer, std::uint64_t seq, std::int64_t epoch = 1) {
        Sample& sample = answer.samples.emplace_back();
        sample.topic = "a/x";
        sample.epoch = epoch;
        sample.seq = seq;
    }
    /// The services reply to the next request with a snapshot: empty, or with one sample.
    void begin(std::uint64_t last_seq = 0, std::int64_t epoch = 1) {
        merger.services_up();
        reply(
            [&](Answer& answer) {
                if (last_seq != 0) {
                    add(answer, last_seq, epoch);
                }
            },
            epoch);
    }
    void pass(int ms) {
        now += milliseconds(ms);
        static_cast<void>(merger.turn(now));
    }
    [[nodiscard]] const std::vector<std::string>& lines() const { return output.lines; }

    Time now = Time() + std::chrono::hours(1);
    Lines output;
    Merger merger;
};

using Expected = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "without services, output starts with the first sample after two seconds, and this is "
    "reported",
    "[tail][merger]") {
    Fixture f;
    f.live(7);
    f.pass(0);
    f.pass(1'900);
    CHECK(f.lines().empty());
    f.pass(200);
    CHECK(f.lines() == Expected{"a/x 7"});
    CHECK(f.merger.counts().baseline_failed);
}

TEST_CASE("a gap is lost two seconds after the services became unreachable", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.merger.services_down(f.now);
    f.live(4);
    f.pass(0);
    f.pass(1'900);
    CHECK(f.lines() == Expected{"a/x 1"});
    f.pass(200);
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..3 no_answer", "a/x 4"});
}

TEST_CASE("a gap stays open while the gateway is unreachable", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(4);
    f.merger.live_down();
    f.merger.services_down(f.now);
    f.pass(0);
    f.pass(60'000);
    CHECK(f.lines() == Expected{"a/x 1"});
}

TEST_CASE("services without useful replies are abandoned after ten seconds", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(3);
    for (int second = 0; second < 11; ++second) {
        f.pass(1'000);
    }
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..2 no_answer", "a/x 3"});
}

TEST_CASE("without recovery, a loss is reported at once with the reason of the notice", "[tail][merger]") {
    Fixture f({.recover = false});
    f.live(5);
    f.gap(6, 8, Reason::slow);
    f.live(9);
    f.live(11);
    CHECK(f.lines() == Expected{"a/x 5", "a/x 6..8 slow", "a/x 9", "a/x 10..10 not_asked", "a/x 11"});
}

TEST_CASE("without recovery, the end of an epoch is unknown, and the next epoch starts with 1", "[tail][merger]") {
    Fixture f({.recover = false});
    f.live(5);
    f.live(3, 2);
    CHECK(f.lines() == Expected{"a/x 5", "end of 1 unknown", "a/x 1..2 not_asked", "a/x 3"});
}

TEST_CASE("at the end, waiting samples are output, and missing ones are lost", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(4);
    CHECK_FALSE(f.merger.is_settled());
    f.merger.finish();
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..3 ended", "a/x 4"});
    CHECK(f.merger.is_settled());
}

TEST_CASE("a sample that was reported lost is output if it arrives before its turn", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.gap(3, 9, Reason::queue_overflow);
    f.live(5);
    f.live(2);
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2", "a/x 3..4 queue_overflow", "a/x 5", "a/x 6..9 queue_overflow"});
}

TEST_CASE("the reason in the gateway's reply overrides that of an earlier notice", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.gap(2, 4, Reason::slow);
    f.reply([](Answer& answer) { answer.gone = {{"a/x", 1, 2, 3, Reason::dropped}}; });
    f.merger.finish();
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..3 dropped", "a/x 4..4 slow"});
}

TEST_CASE("the last snapshot reveals missing samples and leaves time for those in flight", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.merger.request_last_snapshot();
    CHECK_FALSE(f.merger.is_settled());
    f.begin(3);
    CHECK(f.merger.has_last_snapshot());
    CHECK(f.lines() == Expected{"a/x 1"});
    CHECK_FALSE(f.merger.turn(f.now + milliseconds(99)).has_value());
    CHECK(f.merger.turn(f.now + milliseconds(100)).value().holes.front().first_seq == 2);
    f.live(2);
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2", "a/x 3"});
}

TEST_CASE("after a stall, a snapshot reveals missing samples even if no live sample arrives", "[tail][merger]") {
    Fixture f;
    f.begin();
    f.now += milliseconds(500);
    f.begin();
    f.pass(60'000);
    f.merger.stalled(f.now);
    CHECK_FALSE(f.merger.turn(f.now + milliseconds(499)).has_value());
    CHECK(f.merger.turn(f.now + milliseconds(500)).value().kind == Request::Kind::snapshot);
}

TEST_CASE("samples of earlier runs are output first, with their losses, and continue in the current run",
          "[tail][merger]") {
    Fixture f({.since = "1h"});
    const auto page = [&f](std::int64_t epoch, const std::vector<std::uint64_t>& seqs, bool is_end) {
        return f.reply(
            [&](Answer& answer) {
                answer.samples_epoch = epoch == 20 ? 0 : epoch;
                answer.next_epoch = is_end && epoch == 10 ? 20 : 0;
                answer.is_end = is_end;
                answer.position = 5;
                for (const std::uint64_t seq : seqs) {
                    Fixture::add(answer, seq, epoch);
                }
            },
            20);
    };
    f.begin(2, 20);
    const Request first = page(10, {7, 8}, false);
    CHECK(first.kind == Request::Kind::since);
    CHECK(first.earlier_runs);
    const Request second = page(10, {10}, true);
    CHECK(second.epoch == 10);
    CHECK(second.position == 5U);
    CHECK(f.lines() == Expected{"a/x 7", "a/x 8"});
    const Request holes = f.reply([](Answer& answer) { answer.gone = {{"a/x", 10, 9, 9, Reason::not_retained}}; }, 20);
    CHECK(holes.holes.size() == 2);
    CHECK(f.lines() == Expected{"a/x 7", "a/x 8", "a/x 9..9 not_retained", "a/x 10"});
    const Request third = page(20, {1, 2}, true);
    CHECK(third.epoch == 20);
    CHECK(third.position == 0U);
    f.live(3, 20);
    CHECK(f.lines() == Expected{"a/x 7", "a/x 8", "a/x 9..9 not_retained", "a/x 10", "a/x 1", "a/x 2", "a/x 3"});
    CHECK(f.merger.is_settled());
}

TEST_CASE("topics beyond the limit are counted and use no memory", "[tail][merger]") {
    Fixture f({.recover = false});
    Sample sample;
    sample.epoch = 1;
    sample.seq = 1;
    for (std::size_t count = 0; count < merger_limits::topics_max + 10; ++count) {
        const std::string topic = "a/" + std::to_string(count);
        sample.topic = topic;
        f.merger.live(sample);
    }
    CHECK(f.merger.topics() == merger_limits::topics_max);
    CHECK(f.merger.counts().topics_refused == 10);
}

}  // namespace telegate::tail::test
