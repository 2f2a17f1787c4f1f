#include "exec/exec_driver.hpp"

#include "exec/continuous_driver.hpp"
#include "exec/once_driver.hpp"

#include <utility>

namespace telegate {

std::unique_ptr<Driver> make_exec_driver(ExecDriverOptions options) {
    if (options.mode == ExecDriverOptions::Mode::continuous) {
        return std::make_unique<exec::ContinuousDriver>(std::move(options));
    }
    return std::make_unique<exec::OnceDriver>(std::move(options));
}

}  // namespace telegate
