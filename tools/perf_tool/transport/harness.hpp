#pragma once

#include "board.hpp"
#include "checker.hpp"
#include "patience.hpp"
#include "payloads.hpp"
#include "workload.hpp"

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// Runs a workload with an engine's own types, so that nothing but the engine stands between its calls:
///
///     struct Link {
///         struct Shared { Shared(const Workload&, settings...); };   // one for all of a process; made first
///         struct Sender {
///             Sender(Shared&, const Workload&);      // listens
///             std::string address();
///             void greet(std::string_view payload);  // sends it to whomever it reaches now, on every topic asked for
///             void send(std::string_view payload);   // the next message, to the next topic; waits for room
///             void flush();                          // leaves nothing behind that was sent
///             void turn();                           // lets things move, for a millisecond or so
///         };
///         struct Receiver {
///             Receiver(Shared&, const Workload&, const std::string& address, std::size_t index);
///             bool receive(Checker&);  // some messages, waiting receive_wait or so for the first; whether any came
///         };
///     };
namespace telegate::perf {

inline constexpr std::chrono::milliseconds receive_wait{100};

/// Of all threads of this process, system calls included.
[[nodiscard]] double process_cpu_seconds() noexcept;
[[nodiscard]] double thread_cpu_seconds() noexcept;

/// Receivers in threads of this process, sent home and joined when it goes.
/// Threads: one. Limits: as many as start() is called.
/// Failure: start() throws std::system_error; check() throws what one has failed with.
class ReceiverThreads {
  public:
    explicit ReceiverThreads(Board& board) noexcept : board_(board) {}
    ~ReceiverThreads();
    ReceiverThreads(const ReceiverThreads&) = delete;
    ReceiverThreads& operator=(const ReceiverThreads&) = delete;
    void start(std::function<void()> body) { threads_.emplace_back(std::move(body)); }
    void check() const { board_.check(); }
    /// What this process has spent on receiving so far, but for threads that an engine has made.
    [[nodiscard]] double cpu_seconds();

  private:
    Board& board_;
    std::vector<std::thread> threads_;
};

/// Receivers in child processes, sent home and waited for when it goes.
/// Threads: one, the only one of the process at start().
/// Limits:  as many as start() is called; one that does not go home in time is killed.
/// Failure: start() throws std::system_error; check() throws what one has failed with, also that it has died.
class ReceiverProcesses {
  public:
    explicit ReceiverProcesses(Board& board) noexcept : board_(board) {}
    ~ReceiverProcesses();
    ReceiverProcesses(const ReceiverProcesses&) = delete;
    ReceiverProcesses& operator=(const ReceiverProcesses&) = delete;
    /// What `body` throws is reported to the board.
    void start(std::size_t receiver, const std::function<void()>& body);
    void check();
    [[nodiscard]] static double cpu_seconds() noexcept { return 0; }  // of this process

  private:
    Board& board_;
    std::vector<pid_t> children_;
};

/// One of the receivers of a run.
struct Seat {
    const Workload& work;
    Board& board;
    std::size_t index;
};

template <class Receiver, class Until>
void receive_until(Receiver& receiver, Checker& checker, const Board& board, const Until& until) {
    Patience patience;
    while (!until()) {
        if (receiver.receive(checker)) {
            patience.renew();
        } else if (board.is_stopped()) {
            return;
        } else {
            patience.check("message for a receiver");
        }
    }
}

template <class Link>
void run_receiver(typename Link::Shared& shared, const Seat& seat) noexcept {
    Board& board = seat.board;
    try {
        Checker checker(seat.work.size, share_of(seat.work, seat.index));
        typename Link::Receiver receiver(shared, seat.work, board.wait_for_address(), seat.index);
        receive_until(receiver, checker, board, [&] { return checker.is_greeted(); });
        const double cpu_before = process_cpu_seconds();
        board.report_ready(seat.index);
        receive_until(receiver, checker, board, [&] { return checker.is_done(); });
        const auto finished = std::chrono::steady_clock::now();
        checker.check();
        if (checker.is_done()) {
            board.report_done(seat.index, finished, process_cpu_seconds() - cpu_before);
        }
        board.wait_for_stop();
    } catch (const std::exception& error) {
        board.report_failed(seat.index, error.what());
    }
}

/// The sender's part.
template <class Sender, class Receivers>
Outcome run_sender(Sender& sender, const Workload& work, const Board& board, Receivers& receivers) {
    Payloads payloads(work.size);
    const std::string_view hello = payloads.hello();
    Patience patience;
    while (!board.are_all_ready()) {
        sender.greet(hello);
        sender.turn();
        receivers.check();
        patience.check("connection to every receiver");
    }
    receivers.check();
    const double cpu_before = process_cpu_seconds();
    const double receivers_cpu_before = receivers.cpu_seconds();
    const double sender_cpu_before = thread_cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t number = 0; number < work.messages; ++number) {
        sender.send(payloads[number]);
    }
    sender.flush();
    const auto sent = std::chrono::steady_clock::now();
    while (!board.are_all_done()) {  // each receiver has a Patience of its own
        sender.turn();
        receivers.check();
    }
    receivers.check();
    const std::chrono::duration<double> time = std::max(sent, board.finished()) - begin;
    Outcome outcome;
    outcome.seconds = time.count();
    outcome.sender_cpu_seconds = thread_cpu_seconds() - sender_cpu_before;
    const double receivers_cpu = receivers.cpu_seconds() - receivers_cpu_before;
    const double process_cpu = process_cpu_seconds() - cpu_before;
    outcome.publisher_cpu_seconds = process_cpu - receivers_cpu;
    outcome.cpu_seconds = process_cpu + (work.two_processes ? board.cpu_seconds() : 0);
    return outcome;
}

template <class Link, class... Settings>
Outcome run_in_threads(const Workload& work, Board& board, const Settings&... settings) {
    typename Link::Shared shared(work, settings...);
    typename Link::Sender sender(shared, work);
    ReceiverThreads receivers(board);
    board.set_address(sender.address());
    for (std::size_t index = 0; index < work.receivers; ++index) {
        receivers.start([&, index] { run_receiver<Link>(shared, {work, board, index}); });
    }
    return run_sender(sender, work, board, receivers);
}

/// The children are made first, while this process has but one thread and no sockets.
template <class Link, class... Settings>
Outcome run_in_processes(const Workload& work, Board& board, const Settings&... settings) {
    ReceiverProcesses receivers(board);
    for (std::size_t index = 0; index < work.receivers; ++index) {
        receivers.start(index, [&] {
            typename Link::Shared shared(work, settings...);
            run_receiver<Link>(shared, {work, board, index});
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
    Board board(work.receivers);
    try {
        return work.two_processes ? run_in_processes<Link>(work, board, settings...)
                                  : run_in_threads<Link>(work, board, settings...);
    } catch (const std::exception&) {
        board.check();  // a receiver's fault is mostly the cause of the sender's
        throw;
    }
}

}  // namespace telegate::perf
