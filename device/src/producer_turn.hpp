#pragma once

#include "core/assert.hpp"

#include <pthread.h>

namespace telegate {

/// Whose turn it is to hand samples on: one thread at a time enters a batch in the ledger and pushes it, so that both
/// have one producer. Once per batch and some hundred nanoseconds long. A thread with a real-time priority lends it to
/// the one that it waits for.
///
/// Threads: any. Satisfies BasicLockable.
/// Limits:  none.
/// Failure: none.
class ProducerTurn {
  public:
    ProducerTurn() noexcept {
        pthread_mutexattr_t attributes;
        ::pthread_mutexattr_init(&attributes);
        ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        TELEGATE_ASSERT(::pthread_mutex_init(&mutex_, &attributes) == 0);
        ::pthread_mutexattr_destroy(&attributes);
    }
    ~ProducerTurn() { ::pthread_mutex_destroy(&mutex_); }
    ProducerTurn(const ProducerTurn&) = delete;
    ProducerTurn& operator=(const ProducerTurn&) = delete;

    void lock() noexcept { TELEGATE_ASSERT(::pthread_mutex_lock(&mutex_) == 0); }
    void unlock() noexcept { TELEGATE_ASSERT(::pthread_mutex_unlock(&mutex_) == 0); }

  private:
    pthread_mutex_t mutex_{};
};

}  // namespace telegate
