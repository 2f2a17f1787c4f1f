#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

#ifdef TELEGATE_ONE_THREAD_TESTS
#include <dlfcn.h>
#include <pthread.h>
#include <regex.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

// TSan does not run the tests in TELEGATE_ONE_THREAD_TESTS, a regular expression for sources. This ends a test program
// if one of these tests starts a thread.
namespace {

std::atomic<bool> may_start_threads = true;

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
#else  // Catch2 2
using ListenerBase = Catch::TestEventListenerBase;
#endif

class OneThread final : public ListenerBase {
  public:
    template <class Config>  // differs, too
    explicit OneThread(const Config& config) : ListenerBase(config) {
        if (regcomp(&pattern_, TELEGATE_ONE_THREAD_TESTS, REG_EXTENDED | REG_NOSUB) != 0) {
            std::abort();
        }
    }
    ~OneThread() override { regfree(&pattern_); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

    void testCaseStarting(const Catch::TestCaseInfo& test) override {
        may_start_threads = regexec(&pattern_, test.lineInfo.file, 0, nullptr, 0) != 0;
    }

  private:
    regex_t pattern_{};
};
CATCH_REGISTER_LISTENER(OneThread)

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
    if (!may_start_threads) {
        std::fputs("a test in one_thread_tests of tests/CMakeLists.txt starts a thread\n", stderr);
        std::abort();
    }
    static const auto start_thread = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return start_thread(thread, attributes, start, argument);
}
#endif

int main(int argc, char* argv[]) {
    return Catch::Session().run(argc, argv);
}
