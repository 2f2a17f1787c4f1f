#include "short_slice.hpp"

#include "support/catch.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <thread>

using namespace telegate;

namespace {

/// The first version of the kernel's sched_attr, whose header conflicts with <sched.h>.
struct Attributes {
    std::uint32_t size = sizeof(Attributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

Attributes read_attributes() {
    Attributes seen;
    REQUIRE(::syscall(SYS_sched_getattr, 0, &seen, sizeof seen, 0) == 0);
    return seen;
}

/// Returns the scheduling of a thread that started with `before` and requested short slices; nullopt if the system
/// refuses `before`.
std::optional<Attributes> seen_after_request(Attributes before) {
    std::optional<Attributes> seen;
    std::thread([&] {
        if (::syscall(SYS_sched_setattr, 0, &before, 0) == 0) {
            request_short_slice();
            seen = read_attributes();
        }
    }).join();
    return seen;
}

}  // namespace

TEST_CASE(
    "a thread that requests short slices has them if the system supports them, and nothing "
    "else changes",
    "[device][schedule]") {
    Attributes before = read_attributes();
    const bool knows_slices = before.runtime != 0;
    before.policy = SCHED_OTHER;
    before.nice = 5;
    const std::optional<Attributes> seen = seen_after_request(before);
    REQUIRE(seen);
    CHECK(seen->policy == SCHED_OTHER);
    CHECK(seen->nice == 5);
    CHECK(seen->runtime == (knows_slices ? 100'000 : 0));
}

TEST_CASE("a thread with policy idle keeps it", "[device][schedule]") {
    Attributes before = read_attributes();
    before.policy = SCHED_IDLE;
    const std::optional<Attributes> seen = seen_after_request(before);
    REQUIRE(seen);
    CHECK(seen->policy == SCHED_IDLE);
    CHECK(seen->runtime == before.runtime);
}
