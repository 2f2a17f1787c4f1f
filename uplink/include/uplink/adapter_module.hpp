#pragma once

#include "uplink/adapter.hpp"
#include "uplink/entry_encoder.hpp"

#include <any>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate::uplink {

/// A file and its content, so that an adapter opens none. A path of "": none.
struct AdapterFile {
    std::string path = {};
    std::string content = {};
};

/// Files that authenticate and encrypt a connection.
struct AdapterSecrets {
    AdapterFile credentials = {};
    AdapterFile tls_ca = {};
    AdapterFile tls_certificate = {};
    AdapterFile tls_key = {};
};

/// Properties of the back end of an adapter.
struct AdapterOptions {
    std::vector<std::string> urls;
    std::string subjects;  // all subjects of the messages; "*": any word
    std::string client_name;
    std::string tls_server_name;                               // "": the host of the URL
    std::vector<std::pair<std::string, std::string>> headers;  // of each message, besides those that differ
    std::size_t message_bytes_max = 0;                         // of a payload
    /// Messages may be sent again until this long after they were sent first, except after long outages.
    std::chrono::seconds resend_max{0};
    /// Called for each connection; throws std::exception if the files cannot be read.
    std::function<AdapterSecrets()> secrets;
    /// Called with a reason why the guarantees of an uplink may not hold, once for each connection.
    std::function<void(const std::string& text)> warn;
    std::any type_options;  // see UplinkTypePlan
};

/// Creates the adapters of one type. A module is a shared library with a constant of this type that has the name
/// telegate_uplink_TYPE.
struct AdapterModule {
    const char* version;  // must be that of the program, because they share types
    std::unique_ptr<Adapter> (*make)(AdapterLoop& loop, AdapterOptions options, Adapter::Events events);
    /// Null: the messages have a MessageFormat.
    std::unique_ptr<EntryEncoder> (*make_encoder)(const EncoderOptions& options) = nullptr;
};

/// Returns the module of a type of uplink, and loads its library at the first call for the type. It is searched next to
/// the program and in ../lib/telegate, and is never unloaded. A static program contains all modules. Threads: any.
/// Failure: throws std::runtime_error if it cannot be loaded.
[[nodiscard]] const AdapterModule& load_adapter_module(const std::string& type);

}  // namespace telegate::uplink
