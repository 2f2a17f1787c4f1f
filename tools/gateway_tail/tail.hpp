#pragma once

#include "core/dealer.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"
#include "live_reader.hpp"
#include "splice.hpp"
#include "tail_options.hpp"
#include "tail_output.hpp"
#include "troubles.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::tail {

/// Why something may be missing that has no number.
struct Doubt {
    std::string_view word;  // in the report
    std::string words;      // for people
};

/// gateway_tail without its command line: two sockets, the splice between them and the output, and one thread.
///
/// Threads: one.
/// Limits:  those of its parts; reads ahead one receive buffer for each socket.
/// Failure: construction throws when the sockets cannot be made; the gateway may come and go.
class Tail {
  public:
    explicit Tail(TailOptions options);

    /// Until what was asked for is there, or a signal comes. Returns the exit code.
    [[nodiscard]] int run();

  private:
    enum class News : std::uint8_t { live_up, live_down, services_up, services_down };

    void connect();
    void watch(const MonitorEvent& event, bool is_live);
    void turn(Time now);
    void take_live();
    void take_answers(Time now);
    void take_news(Time now);
    void ask(Time now);
    void say_what_is_new();
    void say_splice_news();
    void say_begin_of_history();
    [[nodiscard]] bool is_done(Time now);
    [[nodiscard]] bool has_timed_out(Time now) const;

    // The end: tail_end.cpp
    void settle();
    [[nodiscard]] std::vector<Doubt> doubts() const;
    void note_doubts();
    [[nodiscard]] bool can_write() const;
    [[nodiscard]] bool can_write_report() const;
    [[nodiscard]] bool write_report() const;
    [[nodiscard]] bool say_unmatched() const;
    [[nodiscard]] int finish_last() const;
    [[nodiscard]] int finish_stream();
    [[nodiscard]] int finish();

    TailOptions options_;
    TailOutput output_;
    Splice splice_;
    LiveReader reader_;
    Reactor reactor_;
    Subscriber subscriber_;
    std::optional<Dealer> dealer_;
    MessageBatch batch_;
    std::vector<News> news_;

    std::vector<Doubt> doubts_;  // at the end
    Time began_;
    bool takes_live_ = true;
    bool is_connected_ = false;  // what is needed is there
    bool was_connected_ = false;
    bool has_said_waiting_ = false;
    bool is_begun_ = false;  // before it was ended
    Troubles troubles_;
    std::uint64_t strange_said_ = 0;
    std::uint64_t refused_said_ = 0;
    bool has_said_baseline_ = false;
    bool has_said_history_ = false;
    std::string refusal_said_;
};

}  // namespace telegate::tail
