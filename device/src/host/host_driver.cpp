#include "host/host_driver.hpp"

#include "host/cpu_source.hpp"
#include "host/disk_source.hpp"
#include "host/file_source.hpp"
#include "host/filesystem_source.hpp"
#include "host/proc_file.hpp"
#include "host/proc_sources.hpp"
#include "host/process_source.hpp"
#include "host/temperature_source.hpp"
#include "path_fault.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// Owns the sources of this machine's readings and their shared buffer.
///
/// Threads: those of Driver.
/// Limits: files are read up to buffer_bytes; a longer file loses its last lines. A tick allocates only for a new disk,
/// interface, core, mount or file.
/// Failure: values that cannot be read have quality bad; read() never fails.
class HostDriver final : public Driver {
  public:
    static constexpr std::size_t buffer_bytes = 64 * 1024;

    explicit HostDriver(HostDriverOptions options)
        : options_(std::move(options)),
          buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)),
          sources_(host::CpuSource(options_.proc_root, options_.per_core), host::LoadSource(options_.proc_root),
                   host::MemorySource(options_.proc_root), host::DiskSource(options_.proc_root, options_.sys_root),
                   host::NetworkSource(options_.proc_root), host::PressureSource(options_.proc_root),
                   host::TemperatureSource(options_.sys_root),
                   host::ProcessSource(options_.proc_root, options_.processes),
                   host::FilesystemSource(options_.proc_root, options_.filesystems),
                   host::FileSource(options_.proc_root, options_.files)) {
        std::error_code error;
        const std::filesystem::directory_iterator readable(options_.proc_root, error);
        if (error) {
            throw std::system_error(error, options_.proc_root);
        }
    }

    void open(SampleBatch& batch) override {
        const host::Tick tick{batch, MonoTime{}, {buffer_.get(), buffer_bytes}};
        std::apply([&](auto&... source) { (source.open(tick), ...); }, sources_);
    }

    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        // These channels depend on the machine at start-up, not on the settings.
        std::vector<std::string> names{"psi.*", "temp.*"};
        std::get<host::CpuSource>(sources_).add_later_names(names);
        std::get<host::DiskSource>(sources_).add_later_names(names);
        std::get<host::NetworkSource>(sources_).add_later_names(names);
        std::get<host::FileSource>(sources_).add_later_names(names);
        return names;
    }

    [[nodiscard]] std::vector<MissingPart> missing_parts() const override {
        std::vector<MissingPart> missing;
        if (std::string fault = path_fault(options_.sys_root, R_OK | X_OK); !fault.empty()) {
            missing.push_back({"sys_root", std::move(fault)});
        }
        const auto table = host::MountTable(options_.proc_root).read({buffer_.get(), buffer_bytes});
        for (const std::string& path : std::get<host::FileSource>(sources_).missing(table)) {
            missing.push_back({"files", path + ": no such file"});
        }
        return missing;
    }

    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        const host::Tick tick{batch, now, {buffer_.get(), buffer_bytes}};
        std::apply([&](auto&... source) { (source.read(tick), ...); }, sources_);
        batch.add_absent_for_missing();
        return {};
    }

    void reset() noexcept override {
        std::apply([](auto&... source) { (source.reset(), ...); }, sources_);
    }

  private:
    const HostDriverOptions options_;
    std::unique_ptr<char[]> buffer_;  // its pages use memory only once they are written
    std::tuple<host::CpuSource, host::LoadSource, host::MemorySource, host::DiskSource, host::NetworkSource,
               host::PressureSource, host::TemperatureSource, host::ProcessSource, host::FilesystemSource,
               host::FileSource>
        sources_;
};

}  // namespace

std::unique_ptr<Driver> make_host_driver(HostDriverOptions options) {
    return std::make_unique<HostDriver>(std::move(options));
}

}  // namespace telegate
