// Moves the wall clock of one program. Loaded with LD_PRELOAD into a program that is linked with the shared C library.
// The offset in ns is the 64-bit number in the file named by TELEGATE_CLOCK_SHIM; it is read at each call. The
// monotonic clock is not moved. The kernel's timestamps of datagrams are moved too, by the offset at the time of
// receipt. adjtimex() reports the clock as unsynchronized.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr std::int64_t ns_per_us = 1'000;

#ifdef _TIME_BITS  // a 32-bit processor: functions that take times of 64 bits have other names
constexpr const char* clock_gettime_name = "__clock_gettime64";
constexpr const char* adjtimex_name = "___adjtimex64";
constexpr const char* recvmmsg_name = "__recvmmsg64";
#else
constexpr const char* clock_gettime_name = "clock_gettime";
constexpr const char* adjtimex_name = "adjtimex";
constexpr const char* recvmmsg_name = "recvmmsg";
#endif

using Offset = std::atomic<std::int64_t>;
static_assert(Offset::is_always_lock_free && sizeof(Offset) == sizeof(std::int64_t));

constinit Offset no_offset{0};  // before the file is mapped, or without a file
constinit std::atomic<Offset*> offset{&no_offset};

[[gnu::constructor]] void map_offset() {
    const char* const path = std::getenv("TELEGATE_CLOCK_SHIM");
    const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void* const shared = ::mmap(nullptr, sizeof(Offset), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (shared != MAP_FAILED) {
        offset.store(static_cast<Offset*>(shared), std::memory_order_release);
    }
}

/// Returns the C library's function of that name.
template <class Function>
Function* next(const char* name) noexcept {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void move(timespec& at) noexcept {
    const std::int64_t ns = at.tv_sec * ns_per_second + at.tv_nsec + offset.load(std::memory_order_acquire)->load();
    const std::int64_t rest = (ns % ns_per_second + ns_per_second) % ns_per_second;
    at = {.tv_sec = (ns - rest) / ns_per_second, .tv_nsec = static_cast<long>(rest)};
}

void move_times(msghdr& message) noexcept {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
            timespec at{};
            std::memcpy(&at, CMSG_DATA(part), sizeof at);
            move(at);
            std::memcpy(CMSG_DATA(part), &at, sizeof at);
        }
    }
}

}  // namespace

// The C library declares these functions as non-throwing and their arguments as non-null.
extern "C" {

int clock_gettime(clockid_t clock, timespec* at) noexcept {
    static auto* const real = next<int(clockid_t, timespec*)>(clock_gettime_name);
    const int result = real(clock, at);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        move(*at);
    }
    return result;
}

int gettimeofday(timeval* at, void* /*zone*/) noexcept {
    timespec now{};
    const int result = clock_gettime(CLOCK_REALTIME, &now);
    *at = {now.tv_sec, now.tv_nsec / ns_per_us};
    return result;
}

time_t time(time_t* at) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != nullptr) {
        *at = now.tv_sec;
    }
    return now.tv_sec;
}

int adjtimex(timex* kernel) noexcept {
    static auto* const real = next<int(timex*)>(adjtimex_name);
    const int result = real(kernel);
    kernel->status |= STA_UNSYNC;
    return result < 0 ? result : TIME_ERROR;
}

// NOLINTNEXTLINE(readability-function-size): the system's arguments
int recvmmsg(int socket, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
    static auto* const real = next<int(int, mmsghdr*, unsigned, int, timespec*)>(recvmmsg_name);
    const int received = real(socket, messages, count, flags, timeout);
    for (int i = 0; i < received; ++i) {
        move_times(messages[i].msg_hdr);
    }
    return received;
}

}  // extern "C"
