#pragma once

#include "core/dealer.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"
#include "live_reader.hpp"
#include "merger.hpp"
#include "tail_options.hpp"
#include "tail_output.hpp"
#include "troubles.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate::tail {

/// gateway_tail without its command line: two sockets, the merger between them and the output, and one thread.
///
/// Threads: one.
/// Limits: those of its parts; reads ahead by one receive buffer per socket.
/// Failure: the constructor throws if the sockets cannot be created; the gateway may disconnect and reconnect.
class Tail {
  public:
    explicit Tail(TailOptions options);

    /// Runs until everything requested was output or a signal arrives. Returns the exit code.
    [[nodiscard]] int run();

  private:
    enum class News : std::uint8_t { live_up, live_down, services_up, services_down };

    void connect();
    void watch(const MonitorEvent& event, bool is_live);
    void turn(Time now);
    void receive_live();
    void receive_answers(Time now);
    void handle_news(Time now);
    void send_request(Time now);
    void say_once(const std::string& words);
    void say_what_is_new();
    void say_merger_news();
    void say_begin_of_history();
    [[nodiscard]] bool is_done(Time now);
    [[nodiscard]] bool has_timed_out(Time now) const;

    // Ending the program.
    void settle();
    void record_doubts();
    [[nodiscard]] bool say_output_fault() const;
    [[nodiscard]] bool can_write_report() const;
    [[nodiscard]] bool write_report() const;
    [[nodiscard]] bool say_unmatched() const;
    [[nodiscard]] int finish_last() const;
    [[nodiscard]] int finish_stream();
    [[nodiscard]] int finish();

    TailOptions options_;
    TailOutput output_;
    Merger merger_;
    LiveReader reader_;
    Reactor reactor_;
    Subscriber subscriber_;
    std::optional<Dealer> dealer_;
    MessageBatch batch_;
    std::vector<News> news_;

    Time began_;
    bool reads_live_ = true;
    bool is_connected_ = false;  // the required connections are established
    bool was_connected_ = false;
    Troubles troubles_;
    std::string refusal_said_;
    bool is_without_begin_ = false;  // this was reported
};

}  // namespace telegate::tail
