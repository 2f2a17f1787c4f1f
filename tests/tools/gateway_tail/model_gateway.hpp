#pragma once

#include "gateway_tail/splice.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace telegate::tail::test {

/// What may go wrong, each as chances in a hundred.
struct ModelTroubles {
    unsigned dropped = 5;  // before publication
    unsigned slow = 3;     // for this subscriber
    unsigned lost_answers = 10;
    unsigned busy = 10;
    unsigned unclean_restart = 30;
    std::size_t history_samples = 1'000'000;
};

/// A gateway as docs/wire.md has it, made of vectors, that one splice listens to. It knows what the truth is.
class ModelGateway {
  public:
    enum class Fate : std::uint8_t { published, queue_overflow };
    struct Truth {
        std::vector<Fate> fates;       // by seq - 1
        std::uint64_t first_held = 1;  // below it the history has nothing
        std::uint64_t last_told = 0;   // published, or told in a gap
        bool end_is_known = true;
    };
    using Key = std::pair<std::string, std::int64_t>;  // topic and epoch

    ModelGateway(unsigned seed, ModelTroubles troubles) : random_(seed), troubles_(troubles) {}

    [[nodiscard]] bool chance(unsigned percent) { return random_() % 100 < percent; }
    [[nodiscard]] std::size_t any(std::size_t below) { return random_() % below; }

    void sample(const std::string& topic);
    void beat_all();
    void restart();
    void connect() { is_connected_ = true; }
    /// What is on its way is lost.
    void disconnect();
    /// Hands up to `count` messages to the splice.
    void deliver(Splice& splice, std::size_t count);
    /// False: no answer comes.
    [[nodiscard]] bool answer(const Request& request, Answer& answer);

    [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }
    [[nodiscard]] const std::map<Key, Truth>& truths() const noexcept { return truths_; }
    /// What a sample of this seq must say.
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
    void tell_dropped(const std::string& topic);
    void answer_snapshot(const Request& request, Answer& answer);
    void answer_since(const Request& request, Answer& answer);
    void answer_holes(const Request& request, Answer& answer);
    void answer_former(const Request& request, Answer& answer);
    void add(Answer& answer, const std::string& topic, std::uint64_t seq) const;

    std::mt19937 random_;
    ModelTroubles troubles_;
    std::int64_t epoch_ = 100;
    bool is_connected_ = false;
    std::map<Key, Truth> truths_;
    std::deque<Held> history_;  // of this epoch
    std::uint64_t positions_ = 0;
    std::deque<Message> stream_;
    std::map<std::string, std::string> names_;  // that answers show
};

}  // namespace telegate::tail::test
