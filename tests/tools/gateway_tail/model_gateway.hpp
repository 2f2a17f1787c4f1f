#pragma once

#include "gateway_tail/merger.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::tail::test {

/// Probabilities of faults, in percent.
struct ModelTroubles {
    unsigned dropped = 5;  // before publication
    unsigned slow = 3;     // for this subscriber
    unsigned lost_answers = 10;
    unsigned busy = 10;
    unsigned unclean_restart = 30;
    std::size_t history_samples = 1'000'000;
    bool is_old = false;  // does not know the keys `removed` and `earlier_runs`, and channels of earlier epochs
};

/// A model of a gateway as described in docs/wire.md, with one merger as its subscriber. It knows the expected output.
class ModelGateway {
  public:
    enum class Fate : std::uint8_t { published, queue_overflow };
    struct Truth {
        std::vector<Fate> fates;            // by seq - 1
        std::uint64_t first_held = 1;       // the history retains nothing below this seq
        std::uint64_t last_reported = 0;    // published, or reported in a gap
        std::uint64_t reported_before = 0;  // before the first connection
        std::uint64_t first_early = 0;      // first sample that was delivered before the first snapshot, or 0
        bool end_is_known = true;
    };
    using Key = std::pair<std::string, std::int64_t>;  // topic and epoch

    ModelGateway(unsigned seed, ModelTroubles troubles) : random_(seed), troubles_(troubles) {}

    [[nodiscard]] bool chance(unsigned percent) { return random_() % 100 < percent; }
    [[nodiscard]] std::size_t any(std::size_t below) { return random_() % below; }

    void sample(const std::string& topic);
    void beat_all();
    void restart();
    void connect();
    /// Drops the messages in flight.
    void disconnect();
    /// Passes up to `count` messages to the merger.
    void deliver(Merger& merger, std::size_t count);
    /// Returns false if no reply is sent.
    [[nodiscard]] bool answer(const Request& request, Answer& answer);

    [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
    /// Returns whether the gateway has lost track of an earlier epoch.
    [[nodiscard]] bool has_forgotten() const noexcept { return has_forgotten_; }
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }
    [[nodiscard]] const std::map<Key, Truth>& truths() const noexcept { return truths_; }
    /// The expected value of a seq.
    [[nodiscard]] static std::int64_t value_of(std::int64_t epoch, std::uint64_t seq) noexcept {
        return epoch * 1'000'000 + static_cast<std::int64_t>(seq);
    }

  private:
    enum class Kind : std::uint8_t { sample, gap, beat };
    struct Message {
        Kind kind;
        std::string topic;
        std::int64_t epoch;
        std::uint64_t first;
        std::uint64_t last;
        Reason reason;
    };
    struct Held {
        std::string topic;
        std::uint64_t seq;
    };

    Truth& truth(const std::string& topic) { return truths_[{topic, epoch_}]; }
    void send(Message message);
    void report_dropped(const std::string& topic);
    void answer_snapshot(const Request& request, Answer& answer);
    void answer_past(const Request& request, Answer& answer);
    void answer_since(const Request& request, Answer& answer);
    void answer_holes(const Request& request, Answer& answer);
    void answer_former(const Request& request, Answer& answer);
    [[nodiscard]] bool refuse_as_old(const Request& request, Answer& answer) const;
    static Sample sample_of(std::string_view topic, std::int64_t epoch, std::uint64_t seq);
    void add(Answer& answer, const std::string& topic, std::uint64_t seq) const;

    std::mt19937 random_;
    ModelTroubles troubles_;
    std::int64_t epoch_ = 100;
    bool is_connected_ = false;
    bool was_connected_ = false;
    bool has_replied_ = false;
    bool has_forgotten_ = false;
    std::map<Key, Truth> truths_;
    std::map<std::int64_t, std::pair<std::int64_t, bool>> next_epochs_;  // and whether the epoch before ended cleanly
    std::deque<Held> history_;                                           // of this epoch
    std::uint64_t positions_ = 0;
    std::deque<Message> stream_;
};

}  // namespace telegate::tail::test
