#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace telegate::test {

/// While this exists, the process can open no more descriptors, only replace one that it closes. Threads: one. Limits:
/// none. Failure: none.
class NoDescriptors {
  public:
    NoDescriptors() {
        int highest = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            highest = std::max(highest, std::stoi(entry.path().filename()));
        }
        do {  // leaves no gap below the limit
            fillers_.push_back(::dup(STDERR_FILENO));
        } while (fillers_.back() >= 0 && fillers_.back() < highest);
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit full = before_;
        full.rlim_cur = static_cast<rlim_t>(fillers_.back()) + 1;
        ::setrlimit(RLIMIT_NOFILE, &full);
    }
    ~NoDescriptors() {
        ::setrlimit(RLIMIT_NOFILE, &before_);
        for (const int descriptor : fillers_) {
            ::close(descriptor);
        }
    }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit before_{};
    std::vector<int> fillers_;
};

}  // namespace telegate::test
