#include "gateway_tail/splice.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

namespace telegate::tail::test {
namespace {

using std::chrono::milliseconds;

class Lines final : public SpliceOutput {
  public:
    void give(const Sample& sample) override { add(sample.topic, sample.seq, sample.seq, ""); }
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
    explicit Fixture(SpliceOptions options = {}) : splice(std::move(options), output) { splice.live_up(now); }

    void live(std::uint64_t seq, std::int64_t epoch = 1) {
        Sample sample;
        sample.topic = "a/x";
        sample.epoch = epoch;
        sample.seq = seq;
        splice.live(sample);
    }
    void gap(std::uint64_t first, std::uint64_t last, Reason reason) { splice.gap({"a/x", 1, first, last, reason}); }
    static Answer answer_to(const Request& request, std::int64_t epoch = 1) {
        Answer answer;
        answer.id = request.id;
        answer.epoch = epoch;
        answer.is_end = true;
        return answer;
    }
    /// The services reply to the next request, which is returned, with an error.
    Request refuse(AnswerError error, std::int64_t epoch = 1) {
        Request request = splice.turn(now).value();
        Answer answer = answer_to(request, epoch);
        answer.error = std::move(error);
        splice.answer(answer, now);
        return request;
    }
    /// The services reply to the next request with a snapshot: empty, or with one sample and the losses after it.
    void begin(std::uint64_t last_seq = 0, std::uint64_t lost_to = 0, std::int64_t epoch = 1) {
        splice.services_up(now);
        look(last_seq, lost_to, epoch);
    }
    struct Since {
        std::int64_t samples_epoch = 0;
        bool is_end = false;
        std::int64_t next_epoch = 0;
    };
    void answer_since(const Request& request, const std::vector<std::uint64_t>& seqs, const Since& since) {
        Answer answer = answer_to(request, 20);
        answer.samples_epoch = since.samples_epoch;
        answer.next_epoch = since.next_epoch;
        answer.is_end = since.is_end;
        answer.position = 5;
        for (const std::uint64_t seq : seqs) {
            Sample& sample = answer.samples.emplace_back();
            sample.topic = "a/x";
            sample.epoch = since.samples_epoch == 0 ? answer.epoch : since.samples_epoch;
            sample.seq = seq;
        }
        splice.answer(answer, now);
    }
    void look(std::uint64_t last_seq, std::uint64_t lost_to, std::int64_t epoch = 1) {
        Answer answer = answer_to(splice.turn(now).value(), epoch);
        Sample last;
        last.topic = "a/x";
        last.epoch = epoch;
        last.seq = last_seq;
        answer.samples.resize(last_seq == 0 ? 0 : 1, last);
        answer.gone.resize(lost_to == 0 ? 0 : 1, {"a/x", 1, last_seq + 1, lost_to, Reason::dropped});
        splice.answer(answer, now);
    }
    void answer_past(const Request& request, std::vector<PastTopic> past, std::int64_t next_epoch) {
        Answer answer = answer_to(request, 20);
        answer.past = std::move(past);
        answer.next_epoch = next_epoch;
        splice.answer(answer, now);
    }
    /// The services reply to the next request, for holes of an earlier run, that nothing of its known samples is left.
    void lose_holes(std::int64_t epoch, bool is_end_known = true) {
        const Request request = splice.turn(now).value();
        Answer answer = answer_to(request, epoch);
        answer.is_end_known = is_end_known;
        for (const TopicHole& hole : request.holes) {
            if (hole.last_seq != 0) {
                answer.gone.push_back({hole.topic, request.epoch, hole.first_seq, hole.last_seq, Reason::not_retained});
            }
        }
        splice.answer(answer, now);
    }
    void pass(int ms) {
        now += milliseconds(ms);
        static_cast<void>(splice.turn(now));
    }
    [[nodiscard]] const std::vector<std::string>& lines() const { return output.lines; }

    Time now = Time() + std::chrono::hours(1);
    Lines output;
    Splice splice;
};

using Expected = std::vector<std::string>;

}  // namespace

TEST_CASE("live samples wait for the first snapshot", "[tail][splice]") {
    Fixture f;
    f.live(1);
    CHECK(f.lines().empty());
    f.begin();
    f.live(2);
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2"});
}

TEST_CASE("samples of topics that were never received, in runs that ended meanwhile, are missing", "[tail][splice]") {
    Fixture f;
    f.begin(7);
    f.live(1, 20);
    const Request first = f.splice.turn(f.now).value();
    CHECK(first.kind == Request::Kind::past);
    CHECK(first.epoch == 1);
    f.answer_past(first, {{"a/x", 9}, {"b/y", 2}}, 10);
    const Request second = f.splice.turn(f.now).value();
    CHECK(second.epoch == 10);
    f.answer_past(second, {{"a/x", 3}}, 20);
    f.look(1, 0, 20);
    CHECK(f.lines().empty());
    f.lose_holes(20);
    f.lose_holes(20);
    CHECK(f.splice.is_settled());
    CHECK(f.lines() == Expected{"a/x 8..9 not_retained", "b/y 1..2 not_retained", "a/x 1..3 not_retained", "a/x 1"});
}

TEST_CASE("a gateway that does not know the channels of an earlier run gets no further request for them",
          "[tail][splice]") {
    const std::string code = GENERATE("bad_request", "unknown_epoch");
    Fixture f;
    f.begin(7);
    f.live(1, 20);
    f.refuse({code, "", {}}, 20);
    CHECK(f.splice.turn(f.now).value().kind == Request::Kind::snapshot);
    CHECK(f.lines() == (code == "bad_request" ? Expected{} : Expected{"end of 1 unknown"}));
}

TEST_CASE("the end of an earlier run is unknown if a reply about its samples says so", "[tail][splice]") {
    Fixture f;
    f.begin(7);
    f.live(1, 20);
    f.answer_past(f.splice.turn(f.now).value(), {}, 20);
    f.look(1, 0, 20);
    f.lose_holes(20, false);
    CHECK(f.lines() == Expected{"end of 1 unknown", "a/x 1"});
}

TEST_CASE("a heartbeat notice of a channel without samples creates neither a topic nor an epoch", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.splice.beat({"a/y", 1, 0});
    f.splice.beat({"a/y", 2, 0});
    CHECK(f.splice.topics() == 0);
    CHECK(f.splice.epoch() == 1);
    CHECK(f.splice.is_settled());
}

TEST_CASE("output starts after the samples of the first snapshot", "[tail][splice]") {
    Fixture f;
    f.begin(7);
    CHECK(f.splice.is_settled());
    f.live(9);
    CHECK(f.splice.turn(f.now).value().holes.front().first_seq == 8);
}

TEST_CASE("losses before the start are not missing", "[tail][splice]") {
    const std::uint64_t last_seq = GENERATE(std::uint64_t{0}, std::uint64_t{7});
    Fixture f;
    f.begin(last_seq, 9);
    CHECK(f.splice.is_settled());
    f.live(10);
    CHECK(f.lines() == Expected{"a/x 10"});
}

TEST_CASE("a later snapshot reveals losses after the last sample", "[tail][splice]") {
    Fixture f;
    f.begin(7, 9);
    f.live(10);
    f.splice.look_last();
    f.look(10, 12);
    CHECK(f.splice.is_settled());
    CHECK(f.lines() == Expected{"a/x 10", "a/x 11..12 dropped"});
}

TEST_CASE("live samples that arrived before the first snapshot are not discarded as old", "[tail][splice]") {
    Fixture f;
    f.live(5);
    f.live(7);
    f.begin(7);
    CHECK(f.lines() == Expected{"a/x 5"});
    CHECK(f.splice.turn(f.now).value().holes.front().first_seq == 6);
}

TEST_CASE(
    "without services, output starts with the first sample after two seconds, and this is "
    "reported",
    "[tail][splice]") {
    Fixture f;
    f.live(7);
    f.pass(0);
    f.pass(1'900);
    CHECK(f.lines().empty());
    f.pass(200);
    CHECK(f.lines() == Expected{"a/x 7"});
    CHECK(f.splice.counts().baseline_failed);
}

TEST_CASE("a gap is lost two seconds after the services became unreachable", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.splice.services_down(f.now);
    f.live(4);
    f.pass(0);
    f.pass(1'900);
    CHECK(f.lines() == Expected{"a/x 1"});
    f.pass(200);
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..3 no_answer", "a/x 4"});
}

TEST_CASE("a gap stays open while the gateway is unreachable", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(4);
    f.splice.live_down(f.now);
    f.splice.services_down(f.now);
    f.pass(0);
    f.pass(60'000);
    CHECK(f.lines() == Expected{"a/x 1"});
}

TEST_CASE("a request without a reply is sent again, and a late reply is ignored", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(3);
    const Request first = f.splice.turn(f.now).value();
    CHECK_FALSE(f.splice.turn(f.now + milliseconds(900)).has_value());
    const Request second = f.splice.turn(f.now + milliseconds(1'100)).value();
    CHECK(second.id != first.id);
    f.splice.answer(Fixture::answer_to(first), f.now);
    CHECK(f.splice.counts().answers_ignored == 1);
}

TEST_CASE("busy services are queried again after the requested delay and are not abandoned", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(3);
    for (int count = 0; count < 100; ++count) {
        f.refuse({"busy", "", milliseconds(300)});
        CHECK_FALSE(f.splice.turn(f.now + milliseconds(299)).has_value());
        f.now += milliseconds(300);
    }
    CHECK(f.lines() == Expected{"a/x 1"});
}

TEST_CASE("services without useful replies are abandoned after ten seconds", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(3);
    for (int second = 0; second < 11; ++second) {
        f.pass(1'000);
    }
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..2 no_answer", "a/x 3"});
}

TEST_CASE("without recovery, a loss is reported at once with the reason of the notice", "[tail][splice]") {
    Fixture f({.recover = false});
    f.live(5);
    f.gap(6, 8, Reason::slow);
    f.live(9);
    f.live(11);
    CHECK(f.lines() == Expected{"a/x 5", "a/x 6..8 slow", "a/x 9", "a/x 10..10 not_asked", "a/x 11"});
}

TEST_CASE("without recovery, the end of an epoch is unknown, and the next epoch starts with 1", "[tail][splice]") {
    Fixture f({.recover = false});
    f.live(5);
    f.live(3, 2);
    CHECK(f.lines() == Expected{"a/x 5", "end of 1 unknown", "a/x 1..2 not_asked", "a/x 3"});
}

TEST_CASE("at the end, waiting samples are output, and missing ones are lost", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.live(4);
    CHECK_FALSE(f.splice.is_settled());
    f.splice.finish();
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..3 ended", "a/x 4"});
    CHECK(f.splice.is_settled());
}

TEST_CASE("a sample that was reported lost is output if it arrives before its turn", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.gap(3, 9, Reason::queue_overflow);
    f.live(5);
    f.live(2);
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2", "a/x 3..4 queue_overflow", "a/x 5", "a/x 6..9 queue_overflow"});
}

TEST_CASE("the reason in the gateway's reply overrides that of an earlier notice", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.gap(2, 4, Reason::slow);
    Answer answer = Fixture::answer_to(f.splice.turn(f.now).value());
    answer.gone = {{"a/x", 1, 2, 3, Reason::dropped}};
    f.splice.answer(answer, f.now);
    f.splice.finish();
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2..3 dropped", "a/x 4..4 slow"});
}

TEST_CASE("the last snapshot reveals missing samples and leaves time for those in flight", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.live(1);
    f.splice.look_last();
    CHECK_FALSE(f.splice.is_settled());
    f.begin(3);
    CHECK(f.splice.has_looked_last());
    CHECK(f.lines() == Expected{"a/x 1"});
    CHECK_FALSE(f.splice.turn(f.now + milliseconds(99)).has_value());
    CHECK(f.splice.turn(f.now + milliseconds(100)).value().holes.front().first_seq == 2);
    f.live(2);
    CHECK(f.lines() == Expected{"a/x 1", "a/x 2", "a/x 3"});
}

TEST_CASE("after a stall, a snapshot reveals missing samples even if no live sample arrives", "[tail][splice]") {
    Fixture f;
    f.begin();
    f.now += milliseconds(500);
    f.begin();
    f.pass(60'000);
    f.splice.stalled(f.now);
    CHECK_FALSE(f.splice.turn(f.now + milliseconds(499)).has_value());
    CHECK(f.splice.turn(f.now + milliseconds(500)).value().kind == Request::Kind::snapshot);
}

TEST_CASE("a key that the gateway does not know is omitted from later snapshot requests", "[tail][splice]") {
    Fixture f;
    f.splice.services_up(f.now);
    const Request first = f.refuse({"bad_request", "\"removed\" is not a key of snapshot", {}, "/removed"});
    CHECK(first.removed);
    const Request second = f.splice.turn(f.now).value();
    CHECK_FALSE(second.removed);
    CHECK(to_json(second).find("removed") == std::string::npos);
    CHECK(f.splice.counts().refusal.empty());
}

TEST_CASE("samples of earlier runs are output first, with their losses, and continue in the current run",
          "[tail][splice]") {
    Fixture f({.since = "1h"});
    f.begin(2, 0, 20);
    const Request first = f.splice.turn(f.now).value();
    CHECK(first.kind == Request::Kind::since);
    CHECK(first.earlier_runs);
    f.answer_since(first, {7, 8}, {10, false, 0});
    const Request second = f.splice.turn(f.now).value();
    CHECK(second.epoch == 10);
    CHECK(second.position == 5U);
    f.answer_since(second, {10}, {10, true, 20});
    CHECK(f.lines() == Expected{"a/x 7", "a/x 8"});
    f.lose_holes(20);
    CHECK(f.lines() == Expected{"a/x 7", "a/x 8", "a/x 9..9 not_retained", "a/x 10"});
    const Request third = f.splice.turn(f.now).value();
    CHECK(third.kind == Request::Kind::since);
    CHECK(third.epoch == 20);
    CHECK(third.position == 0U);
    f.answer_since(third, {1, 2}, {0, true, 0});
    f.live(3, 20);
    CHECK(f.lines() == Expected{"a/x 7", "a/x 8", "a/x 9..9 not_retained", "a/x 10", "a/x 1", "a/x 2", "a/x 3"});
    CHECK(f.splice.is_settled());
}

TEST_CASE("a gateway that does not know earlier_runs is requested to replay the current run", "[tail][splice]") {
    Fixture f({.since = "1h"});
    f.begin(2);
    f.refuse({"bad_request", "\"earlier_runs\" is not a key of replay", {}, "/earlier_runs"});
    const Request second = f.splice.turn(f.now).value();
    CHECK(second.kind == Request::Kind::since);
    CHECK(to_json(second).find("earlier_runs") == std::string::npos);
}

TEST_CASE("topics beyond the limit are counted and use no memory", "[tail][splice]") {
    Fixture f({.recover = false});
    Sample sample;
    sample.epoch = 1;
    sample.seq = 1;
    for (std::size_t count = 0; count < splice_limits::topics_max + 10; ++count) {
        const std::string topic = "a/" + std::to_string(count);
        sample.topic = topic;
        f.splice.live(sample);
    }
    CHECK(f.splice.topics() == splice_limits::topics_max);
    CHECK(f.splice.counts().topics_refused == 10);
}

TEST_CASE("samples beyond the limit are discarded and requested again", "[tail][splice]") {
    Fixture f({.kept_samples_max = 100});
    f.begin();
    f.live(1);
    for (std::uint64_t seq = 3; seq < 1'000; ++seq) {
        f.live(seq);
    }
    CHECK(f.splice.counts().buffers_dropped > 0);
    const Request request = f.splice.turn(f.now).value();
    CHECK(request.holes.front().first_seq == 2);
    CHECK(request.holes.front().last_seq > 800);
}

}  // namespace telegate::tail::test
