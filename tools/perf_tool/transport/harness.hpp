#pragma once

#include "messages.hpp"
#include "system.hpp"

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>

/// Runs a workload with an engine's own types, without indirections between its calls:
///
///     struct Link {
///         struct Shared { Shared(const Workload&, settings...); };   // one per process, constructed first
///         struct Sender {
///             Sender(Shared&, const Workload&);      // listens
///             std::string address();
///             void greet(std::string_view payload);  // sends it to the connected receivers, on every subscribed topic
///             void send(std::string_view payload);   // sends the next message to the next topic; waits while full
///             void flush();                          // sends everything that is queued
///             void turn();                           // processes events for about a millisecond
///         };
///         struct Receiver {
///             Receiver(Shared&, const Workload&, const std::string& address, std::size_t index);
///             bool receive(Checker&);  // waits receive_wait for the first message; returns whether there was one
///         };
///     };
namespace telegate::perf {

inline constexpr std::chrono::milliseconds receive_wait{100};
/// The time without progress after which a run fails.
inline constexpr std::chrono::seconds stillness_max{10};

[[nodiscard]] inline double process_cpu_seconds() noexcept {
    return cpu_ns_of(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

/// Waits a millisecond.
void nap() noexcept;

/// Throws std::runtime_error if there is no progress for stillness_max. Threads: one. Limits: none.
class Patience {
  public:
    /// There was progress.
    void renew() noexcept { waits_ = false; }
    /// There is no progress yet.
    void check(const char* awaited) {
        const auto now = std::chrono::steady_clock::now();
        if (!waits_) {
            waits_ = true;
            deadline_ = now + stillness_max;
        } else if (now > deadline_) {
            throw std::runtime_error("no progress for ten seconds: no " + std::string(awaited));
        }
    }

  private:
    bool waits_ = false;
    std::chrono::steady_clock::time_point deadline_{};
};

/// The state of a run, in memory that child processes share.
///
/// Threads: any. A receiver writes to its own slot only.
/// Limits:  receivers_max receivers; texts are truncated to text_bytes_max.
/// Failure: functions that wait throw std::runtime_error after stillness_max.
struct Board {
    static constexpr std::size_t receivers_max = 256;
    static constexpr std::size_t text_bytes_max = 240;
    enum class Stage : std::uint8_t { starting, ready, done, failed };

    struct Text {
        std::array<char, text_bytes_max> bytes{};
        std::size_t size = 0;

        void set(std::string_view text) noexcept { size = text.copy(bytes.data(), bytes.size()); }
        [[nodiscard]] std::string get() const { return {bytes.data(), size}; }
    };
    struct alignas(64) Slot {
        std::atomic<Stage> stage{Stage::starting};
        std::chrono::steady_clock::time_point finished{};
        double cpu_seconds = 0;
        Text why;
    };

    // For the sender.
    void set_address(std::string_view text) noexcept;
    [[nodiscard]] bool have_all_reached(std::size_t receivers, Stage stage) const noexcept;
    /// Throws the failure of a receiver, if there is one.
    void check() const;

    // For receivers.
    [[nodiscard]] std::string wait_for_address() const;
    void fail(std::size_t receiver, std::string_view why) noexcept;
    /// Waits without a limit, because other receivers may take long.
    void wait_for_stop() const;

    std::atomic<bool> has_address{false};
    std::atomic<bool> stopped{false};
    Text address;
    std::array<Slot, receivers_max> slots{};
    static_assert(std::atomic<Stage>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
};
using SharedBoard = std::unique_ptr<Board, void (*)(Board*)>;
/// Throws std::system_error.
[[nodiscard]] SharedBoard make_board();

/// Receivers in threads or child processes; the destructor stops them and waits for them.
/// Threads: one; with processes, the only one of this process at start().
/// Limits:  a process that does not end in time is killed.
/// Failure: start() throws std::system_error; check() throws the failure of a receiver, including its death.
class Receivers {
  public:
    Receivers(Board& board, bool are_processes) noexcept : board_(board), are_processes_(are_processes) {}
    ~Receivers();
    Receivers(const Receivers&) = delete;
    Receivers& operator=(const Receivers&) = delete;

    /// Runs `body`, whose exceptions are reported to the board.
    void start(std::size_t receiver, const std::function<void()>& body);
    void check() const;
    /// Returns the CPU time of the receiving threads of this process, without threads created by the engine.
    [[nodiscard]] double cpu_seconds();

  private:
    void fork_child(const std::function<void()>& body);

    Board& board_;
    const bool are_processes_;
    std::vector<std::thread> threads_;
    std::vector<pid_t> children_;
};

template <class Receiver, class Until>
void receive_until(Receiver& receiver, Checker& checker, const Board& board, const Until& until) {
    Patience patience;
    while (!until()) {
        if (receiver.receive(checker)) {
            patience.renew();
        } else if (board.stopped) {
            return;
        } else {
            patience.check("message for a receiver");
        }
    }
}

template <class Link>
void run_receiver(typename Link::Shared& shared, const Workload& work, Board& board, std::size_t index) {
    Checker checker(work.size, share_of(work, index));
    typename Link::Receiver receiver(shared, work, board.wait_for_address(), index);
    receive_until(receiver, checker, board, [&] { return checker.is_greeted(); });
    const double cpu_before = process_cpu_seconds();
    Board::Slot& slot = board.slots[index];
    slot.stage = Board::Stage::ready;
    receive_until(receiver, checker, board, [&] { return checker.is_done(); });
    slot.finished = std::chrono::steady_clock::now();
    checker.check();
    if (checker.is_done()) {
        slot.cpu_seconds = process_cpu_seconds() - cpu_before;
        slot.stage = Board::Stage::done;
    }
    board.wait_for_stop();
}

template <class Sender>
Outcome run_sender(Sender& sender, const Workload& work, const Board& board, Receivers& receivers) {
    Payloads payloads(work.size);
    const std::string_view hello = payloads.hello();
    Patience patience;
    while (!board.have_all_reached(work.receivers, Board::Stage::ready)) {
        sender.greet(hello);
        sender.turn();
        receivers.check();
        patience.check("connection to every receiver");
    }
    receivers.check();
    const double cpu_before = process_cpu_seconds();
    const double receivers_cpu_before = receivers.cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t number = 0; number < work.messages; ++number) {
        sender.send(payloads[number]);
    }
    sender.flush();
    auto finished = std::chrono::steady_clock::now();
    while (!board.have_all_reached(work.receivers, Board::Stage::done)) {  // receivers have their own Patience
        sender.turn();
        receivers.check();
    }
    receivers.check();
    Outcome outcome;
    const double receivers_cpu = receivers.cpu_seconds() - receivers_cpu_before;
    outcome.cpu_seconds = process_cpu_seconds() - cpu_before;
    outcome.publisher_cpu_seconds = outcome.cpu_seconds - receivers_cpu;
    for (std::size_t index = 0; index < work.receivers; ++index) {
        finished = std::max(finished, board.slots[index].finished);
        outcome.cpu_seconds += work.two_processes ? board.slots[index].cpu_seconds : 0;
    }
    outcome.seconds = std::chrono::duration<double>(finished - begin).count();
    return outcome;
}

template <class Link, class... Settings>
Outcome run_in_threads(const Workload& work, Board& board, const Settings&... settings) {
    typename Link::Shared shared(work, settings...);
    typename Link::Sender sender(shared, work);
    Receivers receivers(board, false);
    board.set_address(sender.address());
    for (std::size_t index = 0; index < work.receivers; ++index) {
        receivers.start(index, [&, index] { run_receiver<Link>(shared, work, board, index); });
    }
    return run_sender(sender, work, board, receivers);
}

/// Creates the children first, while this process has one thread and no sockets.
template <class Link, class... Settings>
Outcome run_in_processes(const Workload& work, Board& board, const Settings&... settings) {
    Receivers receivers(board, true);
    for (std::size_t index = 0; index < work.receivers; ++index) {
        receivers.start(index, [&] {
            typename Link::Shared shared(work, settings...);
            run_receiver<Link>(shared, work, board, index);
        });
    }
    typename Link::Shared shared(work, settings...);
    typename Link::Sender sender(shared, work);
    board.set_address(sender.address());
    return run_sender(sender, work, board, receivers);
}

/// Throws std::runtime_error as Engine::run does.
template <class Link, class... Settings>
Outcome run_workload(const Workload& work, const Settings&... settings) {
    const SharedBoard board = make_board();
    try {
        return work.two_processes ? run_in_processes<Link>(work, *board, settings...)
                                  : run_in_threads<Link>(work, *board, settings...);
    } catch (const std::exception&) {
        board->check();  // the failure of a receiver usually causes that of the sender
        throw;
    }
}

}  // namespace telegate::perf
