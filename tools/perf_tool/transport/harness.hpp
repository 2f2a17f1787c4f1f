#pragma once

#include "system.hpp"
#include "transport/workload.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

/// Runs a workload with an engine's own types, without indirections between its calls. `make_shared()` returns the
/// state that the sender and the receivers of one process share.
///
///     struct Sender {
///         Sender(Shared&, const Workload&);      // listens
///         std::string address();
///         void greet(std::string_view payload);  // sends it to the connected receivers, on every topic
///         void send(std::string_view payload);   // sends the next message to the next topic; waits while full
///         void flush();                          // sends everything that is queued
///         void turn();                           // processes events for about a millisecond
///     };
///     struct Receiver {
///         Receiver(Shared&, const Workload&, const std::string& address, std::size_t index);
///         bool receive(Checker&);  // waits receive_wait for the first message; returns whether there was one
///     };
namespace telegate::perf {

inline constexpr std::chrono::milliseconds receive_wait{100};
/// The time without progress after which a run fails.
inline constexpr std::chrono::seconds stillness_max{10};

/// Waits a millisecond.
void nap() noexcept;

/// Throws std::runtime_error if there is no progress for stillness_max. Threads: one. Limits: none.
class Patience {
  public:
    /// There was progress.
    void renew() noexcept { deadline_.reset(); }
    /// There is no progress yet.
    void check(const char* awaited) {
        const auto now = std::chrono::steady_clock::now();
        deadline_ = deadline_.value_or(now + stillness_max);
        if (now > *deadline_) {
            throw std::runtime_error("no progress for ten seconds: no " + std::string(awaited));
        }
    }

  private:
    std::optional<std::chrono::steady_clock::time_point> deadline_;
};

/// The state of a run, in memory that child processes share.
///
/// Threads: any. A receiver writes to its own slot only.
/// Limits:  receivers_max receivers; texts are truncated to 240 bytes.
/// Failure: functions that wait throw std::runtime_error after stillness_max.
struct Board {
    static constexpr std::size_t receivers_max = 256;
    enum class Stage : std::uint8_t { starting, ready, done, failed };

    struct Text {
        std::array<char, 240> bytes{};
        std::size_t size = 0;

        void set(std::string_view text) noexcept { size = text.copy(bytes.data(), bytes.size()); }
        [[nodiscard]] std::string get() const { return {bytes.data(), size}; }
    };
    struct alignas(64) Slot {
        std::atomic<Stage> stage{Stage::starting};
        std::chrono::steady_clock::time_point finished{};
        double cpu_ns = 0;
        Text why;
    };

    // For the sender.
    void set_address(std::string_view text) noexcept {
        address.set(text);
        has_address = true;
    }
    [[nodiscard]] bool have_all_reached(std::size_t receivers, Stage stage) const noexcept;
    /// Throws the failure of a receiver, if there is one.
    void check() const;

    // For receivers.
    [[nodiscard]] std::string wait_for_address() const;

    std::atomic<bool> has_address{false};
    std::atomic<bool> stopped{false};
    Text address;
    std::array<Slot, receivers_max> slots{};
    static_assert(std::atomic<Stage>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
};
/// Throws std::system_error.
[[nodiscard]] std::unique_ptr<Board, void (*)(Board*)> make_board();

/// Receivers in threads or child processes; the destructor stops them.
/// Threads: one; with processes, the only one of this process at start().
/// Limits:  none. Failure: start() throws std::system_error; check() throws the failure of a receiver, including its
/// death.
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
    [[nodiscard]] double cpu_ns();

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

template <class Receiver, class Shared>
void run_receiver(Shared& shared, const Workload& work, Board& board, std::size_t index) {
    Checker checker(work, index);
    Receiver receiver(shared, work, board.wait_for_address(), index);
    receive_until(receiver, checker, board, [&] { return checker.is_greeted(); });
    const double cpu_before = process_cpu_ns();
    Board::Slot& slot = board.slots[index];
    slot.stage = Board::Stage::ready;
    receive_until(receiver, checker, board, [&] { return checker.is_done(); });
    slot.finished = std::chrono::steady_clock::now();
    checker.check();
    if (checker.is_done()) {
        slot.cpu_ns = process_cpu_ns() - cpu_before;
        slot.stage = Board::Stage::done;
    }
    while (!board.stopped) {  // without a limit, because other receivers may take long
        nap();
    }
}

template <class Sender>
Outcome run_sender(Sender& sender, const Workload& work, const Board& board, Receivers& receivers) {
    std::vector<char> hello(work.size, 'p');
    stamp(hello, hello_number);
    Patience patience;
    while (!board.have_all_reached(work.receivers, Board::Stage::ready)) {
        sender.greet({hello.data(), hello.size()});
        sender.turn();
        receivers.check();
        patience.check("connection to every receiver");
    }
    receivers.check();
    Payloads payloads(work.size);
    const double cpu_before = process_cpu_ns();
    const double receivers_cpu_before = receivers.cpu_ns();
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
    outcome.cpu_seconds = (process_cpu_ns() - cpu_before) / 1e9;
    outcome.publisher_cpu_seconds = outcome.cpu_seconds - (receivers.cpu_ns() - receivers_cpu_before) / 1e9;
    for (std::size_t index = 0; index < work.receivers; ++index) {
        finished = std::max(finished, board.slots[index].finished);
        outcome.cpu_seconds += work.two_processes ? board.slots[index].cpu_ns / 1e9 : 0;
    }
    outcome.seconds = std::chrono::duration<double>(finished - begin).count();
    return outcome;
}

/// Throws std::runtime_error if a message is lost, changed or out of order, or nothing happens for ten seconds.
template <class Sender, class Receiver, class MakeShared>
Outcome run_workload(const Workload& work, const MakeShared& make_shared) {
    const auto board = make_board();
    const auto start = [&work](Receivers& receivers, const auto& body) {
        for (std::size_t index = 0; index < work.receivers; ++index) {
            receivers.start(index, [body, index] { body(index); });
        }
    };
    try {
        if (work.two_processes) {
            Receivers receivers(*board, true);
            start(receivers, [&](std::size_t index) {  // first, while this process has one thread and no sockets
                auto&& shared = make_shared();
                run_receiver<Receiver>(shared, work, *board, index);
            });
            auto&& shared = make_shared();
            Sender sender(shared, work);
            board->set_address(sender.address());
            return run_sender(sender, work, *board, receivers);
        }
        auto&& shared = make_shared();
        Sender sender(shared, work);
        Receivers receivers(*board, false);
        board->set_address(sender.address());
        start(receivers, [&](std::size_t index) { run_receiver<Receiver>(shared, work, *board, index); });
        return run_sender(sender, work, *board, receivers);
    } catch (const std::exception&) {
        board->check();  // the failure of a receiver usually causes that of the sender
        throw;
    }
}

}  // namespace telegate::perf
