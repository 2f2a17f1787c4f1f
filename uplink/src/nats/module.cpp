#include "nats/jetstream_adapter.hpp"

#include <memory>
#include <utility>

namespace {

using namespace telegate::uplink;

// A static string, because views may not be zero-terminated.
constexpr const char* version = TELEGATE_MODULE_VERSION;

std::unique_ptr<Adapter> make(AdapterLoop& loop, AdapterOptions options, Adapter::Events events) {
    return std::make_unique<JetStreamAdapter>(loop, std::move(options), std::move(events));
}

}  // namespace

extern "C" {
/// See load_adapter_module().
[[gnu::visibility("default")]] extern const AdapterModule telegate_adapter_module;
constinit const AdapterModule telegate_adapter_module{version, make};
}
