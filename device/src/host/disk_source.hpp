#pragma once

#include "host/counter_rows.hpp"
#include "host/proc_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// Counters, rates and usage of every whole disk, from <proc>/diskstats. A whole disk has an entry in <sys>/block.
/// Loop, ram and zram devices are omitted.
///
/// Threads: the sampling thread.
/// Limits: those of CounterRows. Names that are not disks are remembered for others_ticks ticks, up to others_max
/// names. Only a new name allocates.
/// Failure: no samples while the file cannot be read; std::bad_alloc for a new disk.
class DiskSource {
  public:
    static constexpr std::uint32_t others_ticks = 100;
    static constexpr std::size_t others_max = 256;

    DiskSource(const std::string& proc_root, const std::string& sys_root);

    void open(const Tick& tick);
    /// Adds the names of channels that a later read() may declare, with * for any text.
    void add_later_names(std::vector<std::string>& names) const { rows_.add_names(names); }
    void read(const Tick& tick);
    void reset() noexcept;

  private:
    struct ShortName {
        static constexpr std::size_t bytes_max = 32;  // the kernel's own limit
        char bytes[bytes_max];
        std::uint8_t size;
    };

    bool is_disk(std::string_view name);
    [[nodiscard]] bool is_known_other(std::string_view name) noexcept;
    [[nodiscard]] bool is_in_sysfs(std::string_view name) noexcept;

    ProcFile file_;
    CounterRows rows_;
    std::string block_path_;         // <sys>/block/; names are appended temporarily
    std::vector<ShortName> others_;  // partitions and the like; keeps its capacity
    std::size_t next_other_ = 0;     // where the search begins, because the table keeps its order
    std::uint32_t ticks_ = 0;
};

}  // namespace telegate::host
