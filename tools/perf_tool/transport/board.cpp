#include "board.hpp"

#include "patience.hpp"

#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <stdexcept>
#include <system_error>

namespace telegate::perf {

namespace {

void copy_text(std::span<char> to, std::string_view from) noexcept {
    const std::size_t bytes = std::min(from.size(), to.size() - 1);
    std::copy_n(from.begin(), bytes, to.begin());
    to[bytes] = '\0';
}

}  // namespace

void nap() noexcept {
    ::poll(nullptr, 0, 1);
}

Board::Board(std::size_t receivers) : receivers_(receivers) {
    if (receivers == 0 || receivers > receivers_max) {
        throw std::invalid_argument(std::to_string(receivers) + " receivers; 1 to " + std::to_string(receivers_max) +
                                    " are allowed");
    }
    void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "mmap");
    }
    page_ = new (memory) Page;
}

Board::~Board() {
    ::munmap(page_, sizeof(Page));
}

void Board::set_address(std::string_view address) noexcept {
    copy_text(page_->address, address);
    page_->has_address.store(true);
}

bool Board::have_all_reached(Stage stage) const noexcept {
    return std::all_of(page_->slots.begin(), page_->slots.begin() + static_cast<std::ptrdiff_t>(receivers_),
                       [stage](const Slot& slot) { return slot.stage.load() >= stage; });
}

bool Board::are_all_ready() const noexcept {
    return have_all_reached(Stage::ready);
}

bool Board::are_all_done() const noexcept {
    return have_all_reached(Stage::done);
}

void Board::check() const {
    for (std::size_t index = 0; index < receivers_; ++index) {
        if (page_->slots[index].stage.load() == Stage::failed) {
            throw std::runtime_error(page_->slots[index].why.data());
        }
    }
}

std::chrono::steady_clock::time_point Board::finished() const noexcept {
    std::chrono::steady_clock::time_point last{};
    for (std::size_t index = 0; index < receivers_; ++index) {
        last = std::max(last, page_->slots[index].finished);
    }
    return last;
}

double Board::cpu_seconds() const noexcept {
    double sum = 0;
    for (std::size_t index = 0; index < receivers_; ++index) {
        sum += page_->slots[index].cpu_seconds;
    }
    return sum;
}

void Board::stop() noexcept {
    page_->stopped.store(true);
}

std::string Board::wait_for_address() const {
    Patience patience;
    while (!page_->has_address.load()) {
        patience.check("address to connect to");
        nap();
    }
    return page_->address.data();
}

bool Board::is_stopped() const noexcept {
    return page_->stopped.load();
}

void Board::report_ready(std::size_t receiver) noexcept {
    page_->slots[receiver].stage.store(Stage::ready);
}

void Board::report_done(std::size_t receiver, std::chrono::steady_clock::time_point when, double cpu_seconds) noexcept {
    Slot& slot = page_->slots[receiver];
    slot.finished = when;
    slot.cpu_seconds = cpu_seconds;
    slot.stage.store(Stage::done);
}

void Board::report_failed(std::size_t receiver, std::string_view why) noexcept {
    Slot& slot = page_->slots[receiver];
    copy_text(slot.why, why);
    slot.stage.store(Stage::failed);
}

/// Others may take long to get theirs, so there is no limit; whoever stops the board has one.
void Board::wait_for_stop() const {
    while (!is_stopped()) {
        nap();
    }
}

}  // namespace telegate::perf
