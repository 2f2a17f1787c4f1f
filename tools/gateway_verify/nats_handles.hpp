#pragma once

#include <nats/nats.h>

#include <memory>

namespace telegate::uplink {

/// Owners of the objects of libnats.
template <class T, void (*destroy)(T*)>
struct NatsDeleter {
    void operator()(T* object) const noexcept { destroy(object); }
};
template <class T, void (*destroy)(T*)>
using NatsHandle = std::unique_ptr<T, NatsDeleter<T, destroy>>;
using NatsConnection = NatsHandle<natsConnection, natsConnection_Destroy>;
using NatsSubscription = NatsHandle<natsSubscription, natsSubscription_Destroy>;
using NatsMessage = NatsHandle<natsMsg, natsMsg_Destroy>;
using NatsOptions = NatsHandle<natsOptions, natsOptions_Destroy>;

}  // namespace telegate::uplink
