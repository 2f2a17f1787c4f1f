#include "plan/plan_sections.hpp"

#include "core/endpoint.hpp"
#include "device/driver_row.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace telegate {
namespace {

/// An address that a setting uses exclusively: a port or a file.
struct AddressClaim {
    SettingsPlace place;  // empty for a default
    std::string section;  // publish "local"
    std::string setting;  // publish.local.endpoint
    std::string value;    // as given
    Endpoint endpoint;    // for a file: ipc; with file_identity() as its path
    bool is_udp = false;  // UDP and TCP ports are independent
};

/// The addresses of this machine that a host refers to.
struct Reach {
    bool all_ipv4 = false;
    bool all_ipv6 = false;
    bool is_ipv6 = false;
    std::string one = {};  // "" if it means all addresses
};

Reach reach_of(const std::string& given) {
    const std::string host = given == "localhost" ? "127.0.0.1" : given.substr(0, given.find('%'));
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    if (host == "*" || host == "0.0.0.0") {
        return {.all_ipv4 = true};
    }
    if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) {
        const bool is_all = std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
        // A socket on [::] also accepts IPv4.
        return {.all_ipv4 = is_all,
                .all_ipv6 = is_all,
                .is_ipv6 = true,
                .one = is_all ? "" : std::string(bytes.begin(), bytes.end())};
    }
    return {.one = host};
}

bool meet(const Reach& a, const Reach& b) {
    const auto takes = [](const Reach& all, const Reach& other) {
        return other.is_ipv6 ? all.all_ipv6 : all.all_ipv4;
    };
    return takes(a, b) || takes(b, a) || (!a.one.empty() && a.one == b.one);
}

bool exclude(const AddressClaim& one, const AddressClaim& other) {
    const Endpoint& a = one.endpoint;
    const Endpoint& b = other.endpoint;
    return one.is_udp == other.is_udp && !is_any(a) && may_conflict(a, b) &&
           (a.host == b.host || meet(reach_of(a.host), reach_of(b.host)));
}

std::string claim_text(const AddressClaim& claim) {
    std::string text = '"' + claim.value + "\" in [" + claim.section + ']';
    if (!claim.place.name.empty()) {
        text += " (" + claim.place.text() + ')';
    }
    return text;
}

std::string clash_text(const AddressClaim& claim, const AddressClaim& before) {
    const char* const what = claim.endpoint.path.empty() ? "port" : "file";
    std::string text = '"' + claim.value + "\" uses the same ";
    text.append(what)
        .append(" as ")
        .append(claim_text(before))
        .append(": each ")
        .append(what)
        .append(" can be used only once");
    return text;
}

Endpoint file_endpoint(const std::string& path) {
    const bool looks_abstract = path.starts_with('@');  // an abstract address only in an endpoint
    return {Transport::ipc, "", 0, file_identity((looks_abstract ? "./" : "") + path)};
}

template <class EndpointSettings>
void add_endpoints(const std::string& kind, const std::vector<EndpointSettings>& sections,
                   std::vector<AddressClaim>& claims) {
    for (const EndpointSettings& each : sections) {
        auto parsed = parse_endpoint(each.endpoint);
        if (auto* const endpoint = std::get_if<Endpoint>(&parsed)) {
            if (!endpoint->path.empty() && !is_any(*endpoint)) {
                endpoint->path = file_identity(endpoint->path);
            }
            claims.push_back({place_of(each, "endpoint"), kind + " \"" + each.name + '"',
                              kind + '.' + each.name + ".endpoint", each.endpoint, *endpoint});
        }
    }
}

/// Adds the address or file that the device is read from, if only one reader can use it.
void add_device(const DeviceSettings& device, std::vector<AddressClaim>& claims) {
    const auto address = address_of(device);
    if (address && !address->is_shared) {
        const bool is_udp = address->file.empty();
        claims.push_back(
            {place_of(device, address->key), "device \"" + device.name + '"',
             "device." + device.name + '.' + address->key, address->value,
             is_udp ? Endpoint{Transport::tcp, address->host, address->port, ""} : file_endpoint(address->file)});
        claims.back().is_udp = is_udp;
    }
}

/// Ordered so that defaults come before given settings, because a problem needs a place.
std::vector<AddressClaim> address_claims_of(const Settings& settings) {
    const RestSettings& rest = settings.rest;
    std::vector<AddressClaim> claims;
    const auto add_file = [&](const std::string& section, const char* key, const std::string& path) {
        if (!path.empty()) {
            claims.push_back({{}, section, section + '.' + key, path, file_endpoint(path)});
        }
    };
    add_file("gateway", "state_file", settings.state_file);
    add_file("logging", "file", settings.log_file == "stderr" ? "" : settings.log_file);
    add_file("log", "path", settings.log.path);
    if (!settings.rest_host.empty()) {
        const Endpoint listen{Transport::tcp, settings.rest_host, static_cast<std::uint16_t>(settings.rest_port), ""};
        claims.push_back({place_of(settings.places_of("rest"), "listen", {}), "rest", "rest.listen",
                          to_string(listen).substr(std::string_view("tcp://").size()), listen});
    }
    if (!rest.unix_socket.empty()) {
        claims.push_back({place_of(settings.places_of("rest"), "unix_socket", {}), "rest", "rest.unix_socket",
                          rest.unix_socket, file_endpoint(rest.unix_socket)});
    }
    add_endpoints("publish", settings.publish, claims);
    add_endpoints("services", settings.services, claims);
    for (const DeviceSettings& device : settings.devices) {
        add_device(device, claims);
    }
    return claims;
}

}  // namespace

std::string file_identity(const std::string& path) {
    if (path.starts_with('@')) {
        return path;
    }
    const std::filesystem::path given(path);
    std::error_code error;
    const std::filesystem::path folder = given.has_parent_path() ? given.parent_path() : ".";
    const std::filesystem::path known =
        std::filesystem::weakly_canonical(std::filesystem::absolute(folder, error), error);
    return (error ? given : known / given.filename()).lexically_normal().string();
}

void check_addresses(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const std::vector<AddressClaim> claims = address_claims_of(settings);
    for (auto claim = claims.begin(); claim != claims.end(); ++claim) {
        const auto other =
            std::find_if(claims.begin(), claim, [&](const AddressClaim& before) { return exclude(before, *claim); });
        if (other == claim) {
            continue;
        }
        problems.push_back({.place = claim->place,
                            .key = claim->setting.substr(claim->setting.rfind('.') + 1),
                            .what = clash_text(*claim, *other),
                            .setting = claim->setting});
    }
}

}  // namespace telegate
