#include "instruction_counter.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace telegate::perf {

InstructionCounter::InstructionCounter() noexcept {
    perf_event_attr wanted{};
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.size = sizeof wanted;
    wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
    wanted.disabled = 1;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    descriptor_ = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

InstructionCounter::~InstructionCounter() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void InstructionCounter::start() noexcept {
    if (descriptor_ >= 0) {
        ::ioctl(descriptor_, PERF_EVENT_IOC_RESET, 0);
        ::ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0);
    }
}

std::optional<std::uint64_t> InstructionCounter::stop() noexcept {
    std::uint64_t count = 0;
    if (descriptor_ < 0 || ::ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0) != 0 ||
        ::read(descriptor_, &count, sizeof count) != static_cast<ssize_t>(sizeof count)) {
        return std::nullopt;
    }
    return count;
}

}  // namespace telegate::perf
