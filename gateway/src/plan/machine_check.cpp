#include "plan/checks.hpp"

#include "base/whole_file.hpp"
#include "config/credential_path.hpp"
#include "core/endpoint.hpp"
#include "device/driver_row.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>

namespace telegate {
namespace {

/// Returns the names and the addresses of all network interfaces.
std::set<std::string> own_addresses() {
    ifaddrs* list = nullptr;
    std::set<std::string> names;
    if (::getifaddrs(&list) != 0) {
        return names;
    }
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        names.insert(entry->ifa_name);
        const int family = entry->ifa_addr == nullptr ? AF_UNSPEC : entry->ifa_addr->sa_family;
        sockaddr_in four{};
        sockaddr_in6 six{};
        const void* address = nullptr;
        if (family == AF_INET) {
            std::memcpy(&four, entry->ifa_addr, sizeof four);
            address = &four.sin_addr;
        } else if (family == AF_INET6) {
            std::memcpy(&six, entry->ifa_addr, sizeof six);
            address = &six.sin6_addr;
        }
        char text[INET6_ADDRSTRLEN] = "";
        if (address != nullptr && ::inet_ntop(family, address, text, sizeof text) != nullptr) {
            names.insert(text);
        }
    }
    return names;
}

/// Returns the form of the address that inet_ntop() returns, without its zone; other texts stay as they are.
std::string canonical(const std::string& host) {
    std::string plain = host.substr(0, host.find('%'));
    in6_addr address{};  // large enough for either family
    for (const int family : {AF_INET, AF_INET6}) {
        char text[INET6_ADDRSTRLEN] = "";
        if (::inet_pton(family, plain.c_str(), &address) == 1 &&
            ::inet_ntop(family, &address, text, sizeof text) != nullptr) {
            return text;
        }
    }
    return plain;
}

bool is_everywhere(const std::string& host) {
    return host == "*" || host == "0.0.0.0" || host == "::" || host == "localhost" || host.starts_with("127.");
}

/// Returns what is wrong with `host`; "" if nothing is.
std::string host_fault(const std::string& host, const std::set<std::string>& own) {
    const std::string address = canonical(host);
    return is_everywhere(address) || own.contains(address)
               ? ""
               : "no interface of this machine has the name or address " + address;
}

std::string cannot(const std::string& what, const std::string& path, int error) {
    return "cannot create the " + what + " " + (error == EEXIST ? "at " : "in ") + path + ": " +
           std::generic_category().message(error);
}

/// Returns the directory of a path, or "." if it names none.
std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

std::string folder_fault(const std::string& what, const std::string& path) {
    const std::string folder = folder_of(path);
    struct stat facts {};
    if (::stat(folder.c_str(), &facts) != 0) {
        return cannot(what, folder, errno);
    }
    if (!S_ISDIR(facts.st_mode)) {
        return cannot(what, folder, ENOTDIR);
    }
    return ::access(folder.c_str(), W_OK | X_OK) == 0 ? "" : cannot(what, folder, errno);
}

/// An existing socket may be stale, in which case it is replaced.
std::string socket_fault(const std::string& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) == 0 && !S_ISSOCK(facts.st_mode)) {
        return cannot("socket", path, EEXIST);
    }
    return folder_fault("socket", path);
}

std::string log_file_fault(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) {
        return folder_fault("file", path);
    }
    const int error = S_ISDIR(facts.st_mode) ? EISDIR : ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
    return error == 0 ? "" : path + " is not writable: " + std::generic_category().message(error);
}

/// The file is replaced by a new one, so its directory must be writable; an existing file must be a readable regular
/// file.
std::string state_file_fault(const std::string& setting) {
    try {
        const std::string path = link_target(setting);
        struct stat facts {};
        if (::stat(path.c_str(), &facts) != 0) {
            return folder_fault("file", path);
        }
        if (!S_ISREG(facts.st_mode)) {
            return path + " exists but is not a regular file";
        }
        const bool is_readable = ::access(path.c_str(), R_OK) == 0;
        return is_readable ? folder_fault("file", path)
                           : path + " is not readable: " + std::generic_category().message(errno);
    } catch (const std::system_error& error) {
        return error.what();
    }
}

/// The directory is created if it does not exist, but not the folder that contains it.
std::string directory_fault(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) {
        return folder_fault("directory", path);
    }
    if (!S_ISDIR(facts.st_mode)) {
        return path + " exists but is not a directory";
    }
    return ::access(path.c_str(), R_OK | W_OK | X_OK) == 0
               ? ""
               : path + " is not writable: " + std::generic_category().message(errno);
}

/// Returns what is wrong with the size limit of a log: its disk can never hold that much.
std::string log_size_fault(const LogSettings& log) {
    struct statvfs facts {};
    if (::statvfs(log.path.c_str(), &facts) != 0 && ::statvfs(folder_of(log.path).c_str(), &facts) != 0) {
        return "";
    }
    const std::uint64_t disk_bytes = std::uint64_t{facts.f_blocks} * facts.f_frsize;
    const auto bytes_min = static_cast<std::uint64_t>(log.free_bytes_min);
    const std::uint64_t usable = disk_bytes - std::min(disk_bytes, bytes_min);
    return static_cast<std::uint64_t>(log.bytes_max) <= usable
               ? ""
               : std::to_string(log.bytes_max) + " is more than the disk of " + log.path +
                     " can hold: " + std::to_string(usable) + " bytes, without free_bytes_min";
}

/// Only root can read another user's key, and does so only for --check.
std::string key_owner_fault(const std::string& setting) {
    struct stat facts {};
    if (setting.empty() || is_credential(setting) || ::stat(setting.c_str(), &facts) != 0 ||
        facts.st_uid == ::geteuid()) {
        return "";
    }
    return setting + ": owned by uid " + std::to_string(facts.st_uid) + ", checked as uid " +
           std::to_string(::geteuid()) + "; the gateway must run as the owner";
}

std::string endpoint_fault(const Endpoint& endpoint, const std::set<std::string>& own) {
    if (endpoint.path.empty()) {
        return host_fault(endpoint.host, own);
    }
    const bool has_file = !is_any(endpoint) && !endpoint.path.starts_with('@') && !stays_in_process(endpoint.transport);
    return has_file ? socket_fault(endpoint.path) : "";
}

}  // namespace

std::vector<SettingsProblem> machine_problems(const Settings& settings) {
    std::vector<SettingsProblem> problems;
    const std::set<std::string> own = own_addresses();
    const auto add = [&](const SettingsPlace& place, const std::string& key, std::string what) {
        if (!what.empty()) {
            problems.push_back({.place = place, .key = key, .what = std::move(what)});
        }
    };
    const auto add_given = [&](const char* section, const char* key, std::string what) {
        add(place_of(settings.places_of(section), key, {}), key, std::move(what));
    };
    if (!settings.state_file.empty()) {
        add_given("gateway", "state_file", state_file_fault(settings.state_file));
    }
    if (!settings.log.path.empty()) {
        add_given("log", "path", directory_fault(settings.log.path));
        add_given("log", "bytes_max", log_size_fault(settings.log));
    }
    for (const DeviceSettings& device : settings.devices) {
        const auto address = address_of(device);
        if (address && address->file.empty()) {
            add(place_of(device, address->key), address->key, host_fault(address->host, own));
        }
    }
    if (settings.log_file != "stderr") {
        add_given("logging", "file", log_file_fault(settings.log_file));
    }
    if (!settings.rest_host.empty()) {
        add_given("rest", "listen", host_fault(settings.rest_host, own));
    }
    if (!settings.rest.unix_socket.empty()) {
        add_given("rest", "unix_socket", socket_fault(settings.rest.unix_socket));
    }
    const auto add_endpoints = [&](const auto& sections) {
        for (const auto& each : sections) {
            const auto parsed = parse_endpoint(each.endpoint);
            if (const auto* const endpoint = std::get_if<Endpoint>(&parsed)) {
                add(place_of(each, "endpoint"), "endpoint", endpoint_fault(*endpoint, own));
            }
            add(place_of(each, "curve_secret_key_file"), "curve_secret_key_file",
                key_owner_fault(each.curve_secret_key_file));
        }
    };
    add_endpoints(settings.publish);
    add_endpoints(settings.services);
    return problems;
}

}  // namespace telegate
