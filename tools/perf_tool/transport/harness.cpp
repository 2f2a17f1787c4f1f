#include "transport/harness.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>

namespace telegate::perf {

void nap() noexcept {
    ::poll(nullptr, 0, 1);
}

std::unique_ptr<Board, void (*)(Board*)> make_board() {
    void* const memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "mmap");
    }
    return {new (memory) Board, [](Board* board) {
                ::munmap(board, sizeof(Board));
            }};
}

bool Board::have_all_reached(std::size_t receivers, Stage stage) const noexcept {
    return std::all_of(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(receivers),
                       [stage](const Slot& slot) { return slot.stage.load() >= stage; });
}

void Board::check() const {
    for (const Slot& slot : slots) {
        if (slot.stage.load() == Stage::failed) {
            throw std::runtime_error(slot.why.get());
        }
    }
}

std::string Board::wait_for_address() const {
    Patience patience;
    while (!has_address) {
        patience.check("address to connect to");
        nap();
    }
    return address.get();
}

Receivers::~Receivers() {
    board_.stopped = true;
    for (std::thread& thread : threads_) {
        thread.join();
    }
    for (const pid_t child : children_) {  // its results are on the board
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
}

void Receivers::start(std::size_t receiver, const std::function<void()>& body) {
    const auto guarded = [this, receiver, body] {
        try {
            body();
        } catch (const std::exception& error) {
            Board::Slot& slot = board_.slots[receiver];
            slot.why.set(error.what());
            slot.stage = Board::Stage::failed;
        }
    };
    are_processes_ ? fork_child(guarded) : static_cast<void>(threads_.emplace_back(guarded));
}

void Receivers::fork_child(const std::function<void()>& body) {
    const pid_t parent = ::getpid();
    const pid_t child = checked(::fork(), "fork");
    if (child > 0) {
        children_.push_back(child);
        return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) {
        body();
    }
    ::_exit(0);  // without closing or flushing what belongs to the parent
}

void Receivers::check() const {
    board_.check();
    for (const pid_t child : children_) {
        siginfo_t info{};
        const int result = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
        if (result == 0 && info.si_pid == child) {
            board_.check();  // it may have ended because of a failure
            throw std::runtime_error("a receiving process has died");
        }
    }
}

double Receivers::cpu_ns() {
    double sum = 0;
    for (std::thread& thread : threads_) {
        clockid_t clock{};
        sum += ::pthread_getcpuclockid(thread.native_handle(), &clock) == 0 ? cpu_ns_of(clock) : 0;
    }
    return sum;
}

}  // namespace telegate::perf
